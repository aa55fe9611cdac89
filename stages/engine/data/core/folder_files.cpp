#include "engine/data/core/folder_files.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/data/core/folder_walk.h"
#include "engine/data/core/part_names.h"
#include "engine/file/tar.h"
#include "kdgat/text.h"

namespace kdgat::data {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure) return;
  throw Error(ExitCode::kData, "cannot create " + folder.string() + ": " + failure.message());
}

std::vector<LogFile> files_where(const fs::path& root,
                                 const std::function<bool(const fs::path&)>& is_wanted) {
  std::vector<LogFile> out;
  for (const fs::path& path : walk_folder(root).files) {
    if (!is_wanted(path)) continue;
    out.push_back(as_file(path, path.lexically_relative(root).generic_string()));
  }
  std::sort(out.begin(), out.end(),
            [](const LogFile& a, const LogFile& b) { return a.name < b.name; });
  return out;
}

void report_left_out(const fs::path& source, const std::vector<LogFile>& used, Notes& notes) {
  constexpr std::size_t kNamed = 4;
  std::error_code ignored;
  if (!fs::is_directory(source, ignored)) return;
  std::set<fs::path> read;
  for (const LogFile& file : used) read.insert(file.path.lexically_normal());
  FolderWalk walk = walk_folder(source);
  for (Note& note : walk.notes) notes.push_back(std::move(note));
  std::vector<fs::path> others;
  for (const fs::path& path : walk.files) {
    if (!read.contains(path.lexically_normal())) others.push_back(path);
  }
  if (others.empty()) return;
  std::sort(others.begin(), others.end());
  std::string names;
  for (const fs::path& path : others) {
    const std::string name = escaped_name(path.lexically_relative(source).generic_string());
    names += (names.empty() ? "" : ", ") + name;
  }
  notes.push_back({source.string(),
                   "left out, as this data has no such files: " +
                       (others.size() > kNamed ? counted_endings(others) : names),
                   "", "file", std::ssize(others), true});
}

void report_folder_parts(const std::vector<std::string>& names, Notes& notes) {
  std::vector<std::string> others;
  std::map<fs::path, FolderPart> contradictions;
  bool is_training = false;
  for (const std::string& name : names) {
    const FolderPart said = part_of_folders(fs::path(name).parent_path(), part_of_name);
    if (said.part.empty()) others.push_back(name);
    if (!said.outer.empty()) contradictions.try_emplace(said.folder, said);
    is_training |= said.part.empty() || said.part == "train";
  }
  for (const auto& [folder, said] : contradictions) notes.push_back(contradiction_of("", said));
  if (others.size() < names.size() && !others.empty()) {
    notes.push_back(
        {"",
         "in no folder for train, val or test, and taken for training: " + counted_folders(others),
         ""});
  }
  if (!is_training) {
    notes.push_back({"", "every file is in a folder for val or test: none is for training",
                     "name the folder above that of train"});
  }
}

bool is_archive(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.starts_with(".") &&
         (name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz"));
}

bool archive_holds(const fs::path& archive,
                   const std::function<bool(const std::string& name)>& is_wanted) {
  constexpr int kMost = 16;
  try {
    file::TarReader reader(archive);
    for (int i = 0; i < kMost && reader.next(); ++i) {
      if (is_wanted(reader.name().substr(reader.name().rfind('/') + 1))) return true;
    }
  } catch (const Error&) {
    return false;
  }
  return false;
}

}  // namespace kdgat::data
