#include "pipeline/cli/json_error.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "pipeline/show/text.h"
#include "pipeline/system/secrets.h"
#include "pipeline/system/signals.h"

namespace kdgat {

namespace {

using nlohmann::ordered_json;

struct CodeWords {
  ExitCode code;
  const char *kind, *words;
};

constexpr std::array<CodeWords, 14> kCodes = {{
    {ExitCode::kStageFailed, "failed", "failed"},
    {ExitCode::kUsage, "usage", "usage or configuration"},
    {ExitCode::kData, "data", "input data"},
    {ExitCode::kPlugin, "plugin", "plugin or ABI"},
    {ExitCode::kDoesNotFit, "does_not_fit", "the plan does not fit the device"},
    {ExitCode::kAttack, "attack", "a window was flagged"},
    {ExitCode::kUnmet, "unmet", "a figure is not as required"},
    {ExitCode::kGpuMemory, "gpu_memory", "out of GPU memory"},
    {ExitCode::kHostMemory, "host_memory", "out of host memory"},
    {ExitCode::kRequeue, "requeue", "checkpointed, please requeue"},
    {kHungUp, "hung_up", "the terminal was closed"},
    {ExitCode::kInterrupted, "interrupted", "interrupted"},
    {kQuit, "quit", "quit"},
    {ExitCode::kTerminated, "terminated", "terminated"},
}};

const CodeWords& of_code(ExitCode code) {
  const auto found = std::find_if(kCodes.begin(), kCodes.end(),
                                  [&](const CodeWords& one) { return one.code == code; });
  return found == kCodes.end() ? kCodes.front() : *found;
}

bool is_count(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

/// "file:12" and "command line, argument 4" as keys of their own; any other place as it is.
void add_place(const std::string& where, ordered_json& to) {
  const std::string argument = std::string(kCommandLine) + ", argument ";
  const std::size_t colon = where.rfind(':');
  if (where.starts_with(argument) && is_count(where.substr(argument.size()))) {
    to["argument"] = std::stoi(where.substr(argument.size()));
  } else if (colon != std::string::npos && colon > 0 && is_count(where.substr(colon + 1))) {
    to["file"] = where.substr(0, colon);
    to["line"] = std::stoi(where.substr(colon + 1));
  } else if (!where.empty() && where != kCommandLine) {
    to["where"] = where;
  }
}

ordered_json problem_json(const Failure& failure, const Diagnostic& problem) {
  ordered_json out;
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) out[key] = shortened(without_secrets(text), kLongestMessage);
  };
  add("message", problem.message);
  add("step", failure.step);
  add_place(shortened(without_secrets(problem.where), kLongestMessage), out);
  add("hint", problem.hint);
  add("report", failure.report);
  add("log", failure.log);
  return out;
}

}  // namespace

std::string error_kind(ExitCode code) { return of_code(code).kind; }
std::string exit_code_words(ExitCode code) { return of_code(code).words; }

std::string json_error(ExitCode code, const std::vector<Failure>& failures) {
  ordered_json list = ordered_json::array();
  for (const Failure& failure : failures) {
    for (const Diagnostic& one : failure.problems) list.push_back(problem_json(failure, one));
  }
  if (list.empty()) list.push_back({{"message", exit_code_words(code)}});
  ordered_json error = {{"kind", error_kind(code)}, {"exit_code", static_cast<int>(code)}};
  error.update(list.front());
  if (list.size() > 1) error["problems"] = std::move(list);
  const ordered_json out = {{"schema", kErrorSchema}, {"error", std::move(error)}};
  return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace kdgat
