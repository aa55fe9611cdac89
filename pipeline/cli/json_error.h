// Errors under --json: one object on one line of standard error. The keys are a published form,
// kdgat.error/1: see pipeline/verbs/json/json_forms.h.
#pragma once

#include <string>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/show/problem.h"

namespace kdgat {

inline constexpr const char* kErrorSchema = "kdgat.error/1";

/// "usage", "data", ...: an exit code in one word.
std::string error_kind(ExitCode code);
/// "usage or configuration": what an exit code means, where nothing else was said.
std::string exit_code_words(ExitCode code);

/// The line, without its end. The first problem is the error; several are listed as well; without
/// one it is the exit code in words. Secrets are taken out.
std::string json_error(ExitCode code, const std::vector<Failure>& failures);

}  // namespace kdgat
