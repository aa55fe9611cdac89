// Another program, run to its end. No shell. No LibTorch.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kdgat::exporting {

struct Ran {
  int code = 0;        ///< exit code; 127 = there is no such program, 128 + signal
  std::string output;  ///< what it said on standard output and, where `input` is none, on error
};

/// `words`: the program, looked for in PATH, and its arguments. `input`: file that it reads on
/// standard input; "" = nothing. `output`: file that its standard output goes to, in the place of
/// Ran::output; "" = none. Throws Error(kData) where no process can be made.
Ran run_program(const std::vector<std::string>& words, const std::filesystem::path& input = {},
                const std::filesystem::path& output = {});

/// Whether PATH has a program of that name.
bool has_program(const std::string& name);

}  // namespace kdgat::exporting
