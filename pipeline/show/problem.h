// Problems as people read them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kdgat/error.h"

namespace kdgat {

/// How Diagnostic::where begins for a word of the command line.
inline constexpr const char* kCommandLine = "command line";

/// Whether a place is a word of the command line or a variable of the environment.
bool is_typed(const std::string& where);

/// "file:3: message", and "\n  hint: " with the hint. Of a word of the command line, and of a
/// variable of the environment, the place comes last: "message (command line, argument 4)".
std::string problem_text(const Diagnostic& problem);

/// What failed, and where there is more about it.
struct Failure {
  std::string step{};  ///< or another part of the work; "" = the command itself
  std::vector<Diagnostic> problems{};
  std::string report{}, log{};  ///< files; "" = none

  /// "step: problem\n  hint: ...\n  report: FILE\n  log: FILE"
  std::string text() const;
};
void to_json(nlohmann::json& to, const Failure& from);
void from_json(const nlohmann::json& from, Failure& to);

}  // namespace kdgat
