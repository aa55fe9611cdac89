// What the files of a folder hold, for tests that compare folders.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "support/programs/command.h"

namespace kdgat::test {

/// Path below the folder -> content, of every regular file.
inline std::map<std::string, std::string> bytes_below(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    out[fs::relative(entry.path(), folder).string()] = read_text(entry.path());
  }
  return out;
}

}  // namespace kdgat::test
