// Errors and diagnostics shared by the host, the engine and every stage.
//
// What ends a command throws kdgat::Error; what is expected returns std::optional or a list of
// Diagnostic. Exceptions never cross the plugin seam: stage.h turns them into JSON and a status.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kdgat {

/// Documented exit codes of the program, and the status a stage returns (see kdgat help
/// exit-codes).
enum class ExitCode : int {
  kOk = 0,
  kStageFailed = 1,
  kUsage = 2,       ///< usage or configuration
  kData = 3,        ///< input data
  kPlugin = 4,      ///< plugin or ABI
  kDoesNotFit = 5,  ///< the plan does not fit the device
  kAttack = 10,     ///< all done, and an attack was found (kdgat score --fail-on attack)
  kUnmet = 11,      ///< all done, and a figure is not what --require asks for
  kGpuMemory = 81,
  kHostMemory = 82,
  kRequeue = 85,  ///< checkpointed, please requeue
  kInterrupted = 130,
  kTerminated = 143,
};

/// One problem. `where` is "file:line" or "command line, argument 4" (empty if unknown), `hint`
/// what to do about it (may be empty).
struct Diagnostic {
  std::string where;
  std::string message;
  std::string hint;

  /// "where: message\n  hint: hint", without the parts that are empty.
  std::string text() const {
    std::string out = where.empty() ? message : where + ": " + message;
    if (!hint.empty()) out += "\n  hint: " + hint;
    return out;
  }
};

/// Ends the command with `code()`. Carries every problem found, not only the first.
class __attribute__((visibility("default"))) Error : public std::runtime_error {
 public:
  Error(ExitCode code, std::vector<Diagnostic> diagnostics)
      : std::runtime_error(join(diagnostics)), code_(code), diagnostics_(std::move(diagnostics)) {}
  Error(ExitCode code, std::string message, std::string hint = "", std::string where = "")
      : Error(code, {Diagnostic{std::move(where), std::move(message), std::move(hint)}}) {}

  ExitCode code() const { return code_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  static std::string join(const std::vector<Diagnostic>& diagnostics) {
    std::string out;
    for (const Diagnostic& d : diagnostics) {
      if (!out.empty()) out += '\n';
      out += d.text();
    }
    return out;
  }

  ExitCode code_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace kdgat
