#include "engine/data/core/dataset_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <map>

#include "kdgat/small_file.h"

namespace kdgat::data {

namespace fs = std::filesystem;

namespace {

bool same_content(const fs::path& a, const fs::path& b) {
  if (fs::file_size(a) != fs::file_size(b)) return false;
  std::ifstream left = regular_file(a), right = regular_file(b);
  std::vector<char> x(1 << 16), y(1 << 16);
  while (left && right) {
    left.read(x.data(), static_cast<std::streamsize>(x.size()));
    right.read(y.data(), static_cast<std::streamsize>(y.size()));
    if (left.gcount() != right.gcount() ||
        !std::equal(x.begin(), x.begin() + left.gcount(), y.begin())) {
      return false;
    }
  }
  return true;
}

std::vector<LogFile> files_below(const fs::path& root) {
  std::vector<LogFile> files;
  std::error_code failure;
  fs::recursive_directory_iterator entries(root, failure), end;
  for (; !failure && entries != end; entries.increment(failure)) {
    if (!entries->is_regular_file() || !is_log(entries->path())) continue;
    const fs::path& path = entries->path();
    const std::string folder = path.parent_path().filename().string();
    const bool test = path.parent_path() != root && folder.starts_with("test");
    // Not fs::relative(), which names the target of a link.
    files.push_back({path, path.lexically_relative(root).generic_string(), test ? folder : "",
                     test ? "test" : "train"});
  }
  if (failure) throw Error(ExitCode::kData, root.string() + ": " + failure.message());
  // By folder, then by name, as a walk over sorted folders gives them.
  std::sort(files.begin(), files.end(), [](const LogFile& a, const LogFile& b) {
    const fs::path pa = fs::path(a.name).parent_path(), pb = fs::path(b.name).parent_path();
    return pa != pb ? pa < pb : a.name < b.name;
  });
  const auto in_train_folder = [](const LogFile& file) {
    return file.path.parent_path().filename().string().find("train") != std::string::npos;
  };
  if (std::any_of(files.begin(), files.end(), in_train_folder)) {
    std::erase_if(files,
                  [&](const LogFile& f) { return f.role == "train" && !in_train_folder(f); });
  }
  return files;
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

}  // namespace

bool is_table(const fs::path& path) {
  const std::string ending = unpacked_name(path).extension().string();
  return !is_hidden(path) && (ending == ".csv" || ending == ".log" || ending == ".txt");
}

bool is_log(const fs::path& path) {
  const std::string name = path.filename().string();
  if (is_hidden(path) || name == "labels.csv" || name.ends_with(".labels.csv")) return false;
  std::string ending = unpacked_name(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array kEndings = {".asc", ".blf", ".mf4", ".pcap", ".pcapng", ".trc"};
  return is_table(path) || std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

fs::path unpacked_name(const fs::path& path) {
  const fs::path name = path.filename();
  return name.extension() == ".gz" || name.extension() == ".zst" ? name.stem() : name;
}

std::vector<LogFile> find_log_files(const fs::path& source, const std::vector<std::string>& exclude,
                                    bool deduplicate, std::vector<Diagnostic>& notes) {
  if (source == "-") return {{"-", "standard input", "", "train"}};
  std::error_code failure;
  if (!fs::exists(source, failure)) {
    throw Error(ExitCode::kData,
                source.string() + ": " + (failure ? failure.message() : "no such file or folder"));
  }
  if (!fs::is_directory(source)) return {{source, source.filename().string(), "", "train"}};

  std::vector<LogFile> found = files_below(source), kept;
  std::multimap<std::string, const LogFile*> trained;
  for (const LogFile& file : found) {
    const std::string name = file.path.filename().string();
    const auto word = std::find_if(exclude.begin(), exclude.end(), [&](const std::string& w) {
      return !w.empty() && name.find(w) != std::string::npos;
    });
    if (word != exclude.end()) {
      notes.push_back({file.path.string(), "left out: its name contains " + *word, ""});
      continue;
    }
    if (deduplicate && file.role == "train") {
      const auto [from, to] = trained.equal_range(name);
      const auto twin = std::find_if(
          from, to, [&](const auto& other) { return same_content(other.second->path, file.path); });
      if (twin != to) {
        notes.push_back({file.path.string(), "left out: the same as " + twin->second->name, ""});
        continue;
      }
      trained.emplace(name, &file);
    }
    kept.push_back(file);
  }
  if (kept.empty()) {
    throw Error(
        ExitCode::kData,
        source.string() + ": no logs in this folder" +
            (found.empty() ? "" : " but those that are left out"),
        "logs end in .csv, .log, .txt, .asc, .blf, .mf4, .pcap, .pcapng or .trc, with or without "
        ".gz or .zst");
  }
  return kept;
}

}  // namespace kdgat::data
