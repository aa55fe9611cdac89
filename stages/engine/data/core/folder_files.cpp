#include "engine/data/core/folder_files.h"

#include <algorithm>

#include "engine/data/core/folder_walk.h"
#include "engine/file/tar.h"

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
