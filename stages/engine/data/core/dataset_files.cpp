#include "engine/data/core/dataset_files.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>

#include "engine/data/core/folder_walk.h"
#include "engine/data/core/part_names.h"
#include "kdgat/small_file.h"
#include "kdgat/text.h"

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

bool is_label_table(const fs::path& path) {
  const std::string name = small_letters(path.filename().string());
  return name == "labels.csv" || name.ends_with(".labels.csv");
}

/// A text about a data set that is called as such texts are.
bool is_about(const fs::path& path) {
  const std::string stem = small_letters(unpacked_name(path).stem().string());
  constexpr std::array kNames = {"readme", "license", "licence", "citation", "changelog"};
  return unpacked_name(path).extension() != ".log" &&
         std::find(kNames.begin(), kNames.end(), stem) != kNames.end();
}

/// What is in a folder: its logs, and what stands beside them.
class LogFolder {
 public:
  LogFolder(const fs::path& root, Notes& notes) : root_(root), notes_(notes) {
    FolderWalk walk = walk_folder(root);
    std::sort(walk.files.begin(), walk.files.end());
    for (Note& note : walk.notes) notes_.push_back(std::move(note));
    std::vector<fs::path> tables;
    for (const fs::path& path : walk.files) {
      if (is_log(path) && !is_about(path)) {
        add(path);
      } else {
        (is_label_table(path) ? tables : others_).push_back(path);
      }
    }
    tell_contradictions();
    tell_tables(tables);
    tell_named_parts();
    if (others_.empty()) return;
    notes_.push_back({root_.string(), "left out, as no logs end so: " + other_files(), "", "file",
                      std::ssize(others_), true});
  }

  /// By folder, then by name.
  std::vector<LogFile> logs(const std::string& unnamed) {
    place_unnamed(unnamed);
    std::sort(files_.begin(), files_.end(), [](const LogFile& a, const LogFile& b) {
      const fs::path pa = fs::path(a.name).parent_path(), pb = fs::path(b.name).parent_path();
      return pa != pb ? pa < pb : a.name < b.name;
    });
    return std::move(files_);
  }

  /// Those that are no logs, counted.
  std::string other_files() const { return counted_endings(others_); }

 private:
  void add(const fs::path& path) {
    // Not fs::relative(), which names the target of a link.
    const fs::path name = path.lexically_relative(root_);
    const FolderPart said = part_of_folders(name.parent_path());
    const bool test = said.part == "test";
    files_.push_back(
        {path, name.generic_string(), test ? said.folder.filename().string() : "", said.part});
    if (!said.outer.empty()) contradictions_.try_emplace(said.folder, said);
  }

  void tell_contradictions() {
    for (const auto& [folder, said] : contradictions_) {
      notes_.push_back(contradiction_of(root_, said));
    }
  }

  /// Folders decide what a file is for. Where none does, names may have been meant to.
  void tell_named_parts() {
    std::string named[2];
    for (const LogFile& file : files_) {
      if (!file.role.empty()) return;
      const std::string_view part = part_of_name(fs::path(file.name).stem().string());
      if (part == "train") named[0] = file.name;
      if (part == "test") named[1] = file.name;
    }
    if (named[0].empty() || named[1].empty()) return;
    notes_.push_back({root_.string(),
                      "files are named for parts, as " + escaped_name(named[0]) + " and " +
                          escaped_name(named[1]) +
                          ", and no folder is: all of them are taken for training",
                      "put them into folders called train and test"});
  }

  void tell_tables(const std::vector<fs::path>& tables) {
    std::set<fs::path> used;
    for (const LogFile& file : files_) used.insert(label_table_of(file.path));
    for (const fs::path& table : tables) {
      if (used.contains(table)) continue;
      notes_.push_back({table.string(), "left out: no log in this folder has these labels",
                        "the labels of drive.log are in drive.labels.csv or labels.csv beside it",
                        "label table", 1});
    }
  }

  /// Files that no folder gives a part.
  void place_unnamed(const std::string& unnamed) {
    const auto is_of = [](const char* part) {
      return [part](const LogFile& file) { return file.role == part; };
    };
    const bool some_train = std::any_of(files_.begin(), files_.end(), is_of("train"));
    const std::string part = some_train ? unnamed : "train";
    if (part == kLeaveOut) {
      tell_unnamed();
      std::erase_if(files_, is_of(""));
    }
    for (LogFile& file : files_) {
      if (!file.role.empty()) continue;
      file.role = part;
      if (part == "test") file.scenario = fs::path(file.name).parent_path().filename().string();
    }
  }

  void tell_unnamed() {
    std::vector<std::string> names;
    for (const LogFile& file : files_) {
      if (file.role.empty()) names.push_back(file.name);
    }
    if (names.empty()) return;
    notes_.push_back({root_.string(),
                      grouped(std::ssize(names)) + (names.size() == 1 ? " log" : " logs") +
                          " left out: other folders are named for train, val or test, these are "
                          "not: " +
                          counted_folders(names),
                      "other_folders=train reads them for training; val and test work too", "file",
                      std::ssize(names)});
  }

  const fs::path& root_;
  Notes& notes_;
  std::vector<LogFile> files_;
  std::vector<fs::path> others_;
  std::map<fs::path, FolderPart> contradictions_;  // by folder
};

}  // namespace

bool is_table(const fs::path& path) {
  const std::string ending = small_letters(unpacked_name(path).extension().string());
  return !is_hidden(path) && (ending == ".csv" || ending == ".log" || ending == ".txt");
}

bool is_log(const fs::path& path) {
  if (is_hidden(path) || is_label_table(path)) return false;
  const std::string ending = small_letters(unpacked_name(path).extension().string());
  constexpr std::array kEndings = {".asc", ".blf", ".mf4", ".pcap", ".pcapng", ".trc", ".crtd"};
  return is_table(path) || std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

fs::path unpacked_name(const fs::path& path) {
  const fs::path name = path.filename();
  const std::string ending = small_letters(name.extension().string());
  return ending == ".gz" || ending == ".zst" ? name.stem() : name;
}

fs::path label_table_of(const fs::path& log) {
  fs::path own = log.parent_path() / unpacked_name(log);
  own.replace_extension(".labels.csv");
  for (const fs::path& table : {own, log.parent_path() / "labels.csv"}) {
    std::error_code ignored;
    if (fs::is_regular_file(table, ignored)) return table;
  }
  return {};
}

std::string counted_endings(const std::vector<fs::path>& files) {
  constexpr std::size_t kShown = 8;
  std::map<std::string, int64_t> counts;
  for (const fs::path& file : files) {
    const std::size_t stem = unpacked_name(file).stem().string().size();
    const std::string ending = small_letters(file.filename().string().substr(stem));
    ++counts[ending.empty() ? "without an ending" : escaped_name(ending)];
  }
  std::string out;
  std::size_t shown = 0;
  for (const auto& [ending, count] : counts) {
    if (shown++ == kShown) return out + " and others";
    out += (out.empty() ? "" : ", ") + grouped(count) + " " + ending;
  }
  return out;
}

std::string counted_folders(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::map<std::string, int64_t> folders;
  for (const std::string& name : names) {
    const std::string folder = fs::path(name).parent_path().generic_string();
    ++folders[folder.empty() ? "the folder itself" : escaped_name(folder)];
  }
  std::string out;
  std::size_t shown = 0;
  for (const auto& [folder, count] : folders) {
    if (shown++ == kShown) return out + " and others";
    out += (out.empty() ? "" : ", ") + folder + " (" + grouped(count) + ")";
  }
  return out;
}

std::vector<LogFile> find_log_files(const fs::path& source, const std::vector<std::string>& exclude,
                                    bool deduplicate, Notes& notes, const std::string& unnamed) {
  if (source == "-") return {{"-", "standard input", "", "train"}};
  std::error_code failure;
  if (!fs::exists(source, failure)) {
    throw Error(ExitCode::kData,
                source.string() + ": " + (failure ? failure.message() : "no such file or folder"));
  }
  if (!fs::is_directory(source)) return {{source, source.filename().string(), "", "train"}};

  LogFolder folder(source, notes);
  const std::vector<LogFile> found = folder.logs(unnamed);
  std::vector<LogFile> kept;
  std::multimap<std::string, const LogFile*> trained;
  for (const LogFile& file : found) {
    const std::string name = file.path.filename().string();
    const auto word = std::find_if(exclude.begin(), exclude.end(), [&](const std::string& w) {
      return !w.empty() && name.find(w) != std::string::npos;
    });
    if (word != exclude.end()) {
      notes.push_back(
          {file.path.string(), "left out: its name contains " + *word, "", "file", 1, true});
      continue;
    }
    if (deduplicate && file.role == "train") {
      const auto [from, to] = trained.equal_range(name);
      const auto twin = std::find_if(
          from, to, [&](const auto& other) { return same_content(other.second->path, file.path); });
      if (twin != to) {
        notes.push_back({file.path.string(), "left out: the same as " + twin->second->name, "",
                         "file", 1, true});
        continue;
      }
      trained.emplace(name, &file);
    }
    kept.push_back(file);
  }
  if (kept.empty()) {
    const std::string others = folder.other_files();
    throw Error(
        ExitCode::kData,
        source.string() + ": no logs in this folder" +
            (found.empty() ? "" : " but those that are left out") +
            (others.empty() ? "" : "; it holds " + others),
        "logs end in .csv, .log, .txt, .asc, .blf, .mf4, .pcap, .pcapng, .trc or .crtd, with or "
        "without .gz or .zst");
  }
  return kept;
}

}  // namespace kdgat::data
