// Errors under --json: one object on one line of standard error. The keys are a published form,
// kdgat.error/1: see pipeline/verbs/json/json_forms.h.
#pragma once

#include <string>
#include <vector>

#include "kdgat/error.h"

namespace kdgat {

inline constexpr const char* kErrorSchema = "kdgat.error/1";

/// How Diagnostic::where begins for a word of the command line.
inline constexpr const char* kCommandLine = "command line";

/// "usage", "data", ...: an exit code in one word.
std::string error_kind(ExitCode code);
/// "usage or configuration": what an exit code means, where nothing else was said.
std::string exit_code_words(ExitCode code);

/// The line, without its end. The first problem is the error; several are listed as well. Secrets
/// are taken out.
std::string json_error(ExitCode code, const std::vector<Diagnostic>& problems);

}  // namespace kdgat
