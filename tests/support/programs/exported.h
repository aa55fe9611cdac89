// Sources that were exported, written to a folder and compiled there as others would.
#pragma once

#include <fstream>
#include <iostream>
#include <string>

#include "engine/export/c/c_source.h"
#include "support/programs/command.h"

namespace kdgat::test {

/// What sources of C99 must pass.
inline const std::string kStrict = " -std=c99 -Wall -Wextra -Werror -pedantic -ffp-contract=off ";

inline bool has_program(const std::string& name) {
  const bool is_there = run_shell("command -v " + name, "/").exit_code == 0;
  if (!is_there) std::cout << "skipped: " << name << " is not installed\n";
  return is_there;
}

class ExportedFolder {
 public:
  explicit ExportedFolder(const exporting::CSource& source) {
    for (const auto& [name, text] : source.files) {
      std::ofstream(folder_ / name, std::ios::binary) << text;
    }
  }
  /// Runs a line of bash in the folder. What it says is in the message of a failure.
  CommandResult run(const std::string& line) const { return run_shell(line, folder_.path()); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  ScratchFolder folder_;
};

/// "" where the vectors are met by what this compiler makes of detector.c; else what was said.
inline std::string vectors_fault(const ExportedFolder& folder, const std::string& compiler,
                                 const std::string& run = "") {
  const CommandResult said =
      folder.run(compiler + " detector.c check.c -o check && " + run + " ./check");
  return said.exit_code == 0 ? "" : said.out + said.err;
}

}  // namespace kdgat::test
