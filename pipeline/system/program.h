// Runs another program to its end and returns what it printed: git, sbatch, sacct, scontrol. No
// shell in between.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kdgat {

struct ProgramOutput {
  int exit_code = 0;  ///< 128 + n when a signal n killed it
  std::string out, err;
};

/// Runs a program; nullopt if there is none of this name. Tests put another in its place.
using RunProgram =
    std::function<std::optional<ProgramOutput>(const std::vector<std::string>& words)>;

/// Without standard input. A name without a slash is looked up by program_path(). Throws
/// Error(kStageFailed) if no process can be started.
std::optional<ProgramOutput> run_program(const std::vector<std::string>& words);

/// Where a program starts, and until when it may run.
struct ProgramPlace {
  std::filesystem::path folder;          ///< its current folder
  std::vector<std::string> environment;  ///< NAME=VALUE; all that it gets
  std::function<bool()> give_up;         ///< asked several times a second; true kills it
};

std::optional<ProgramOutput> run_program_in(const ProgramPlace& place,
                                            const std::vector<std::string>& words);

/// The words as bash takes them again, each quoted where it must be; one line of printable text,
/// whatever is in them.
std::string shell_line(const std::vector<std::string>& words);

/// Whether a text holds what steers a terminal or ends a line: bytes below a blank, U+007F to
/// U+009F.
bool holds_control(const std::string& text);

}  // namespace kdgat
