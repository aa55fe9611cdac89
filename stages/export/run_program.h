// Another program, run to its end. No shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kdgat::exporting {

struct Ran {
  int code = 0;        ///< exit code; 127 = there is no such program, 128 + signal
  std::string output;  ///< what it said on standard output and, where `input` is none, on error
};

/// `words`: the program, a name that program_path() finds or an absolute path, and its arguments.
/// It starts in the folder "/", so that nothing that it looks for in its current folder (modules,
/// headers, libraries, programs) is found where the user happens to stand. So every path among the
/// arguments is absolute. `input`: file that it reads on standard input; "" = nothing. `output`:
/// file that its standard output goes to, in the place of Ran::output; "" = none. Throws
/// Error(kData) where no process can be made.
Ran run_program(const std::vector<std::string>& words, const std::filesystem::path& input = {},
                const std::filesystem::path& output = {});

}  // namespace kdgat::exporting
