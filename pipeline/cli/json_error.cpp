#include "pipeline/cli/json_error.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

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

/// The lines "  hint: ..." and so on, with which texts for people end, as keys of their own.
void add_message(const std::string& text, ordered_json& to) {
  std::istringstream lines(text);
  std::string message;
  for (std::string line; std::getline(lines, line);) {
    const auto named = [&](const std::string& key) {
      const std::string head = "  " + key + ": ";
      if (!line.starts_with(head) || to.contains(key)) return false;
      to[key] = line.substr(head.size());
      return true;
    };
    if (named("hint") || named("report") || named("log")) continue;
    message += (message.empty() ? "" : "\n") + line;
  }
  to["message"] = message;
}

/// Moves "(command line, argument 4)" from the end of a message to its place.
Diagnostic with_place(Diagnostic problem) {
  const std::size_t at = problem.message.rfind(std::string(" (") + kCommandLine);
  if (problem.where.empty() && at != std::string::npos && problem.message.ends_with(')')) {
    problem.where = problem.message.substr(at + 2, problem.message.size() - at - 3);
    problem.message.resize(at);
  }
  return problem;
}

ordered_json problem_json(const Diagnostic& said) {
  const Diagnostic problem = with_place(said);
  ordered_json out = {{"message", ""}};
  const auto shown = [](const std::string& text) {
    return shortened(without_secrets(text), kLongestMessage);
  };
  add_message(shown(problem.message), out);
  add_place(shown(problem.where), out);
  if (!problem.hint.empty()) out["hint"] = shown(problem.hint);
  return out;
}

}  // namespace

std::string error_kind(ExitCode code) { return of_code(code).kind; }
std::string exit_code_words(ExitCode code) { return of_code(code).words; }

std::string json_error(ExitCode code, const std::vector<Diagnostic>& problems) {
  ordered_json error = {{"kind", error_kind(code)}, {"exit_code", static_cast<int>(code)}};
  const Diagnostic none{"", exit_code_words(code), ""};
  error.update(problem_json(problems.empty() ? none : problems.front()));
  if (problems.size() > 1) {
    error["problems"] = ordered_json::array();
    for (const Diagnostic& one : problems) error["problems"].push_back(problem_json(one));
  }
  const ordered_json out = {{"schema", kErrorSchema}, {"error", std::move(error)}};
  return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace kdgat
