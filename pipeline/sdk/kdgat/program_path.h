// Finds programs that kdgat starts, of the host and of stages alike.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

namespace kdgat {

/// The absolute path of a program of this name in PATH; "" if there is none. Entries of PATH that
/// are not absolute ("", ".", "bin") are skipped: they would start a file of the current folder,
/// which may hold what somebody else packed.
inline std::string program_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.starts_with('/')) continue;
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0) {
      return file.string();
    }
  }
  return "";
}

}  // namespace kdgat
