#include "pipeline/verbs/plan/progress_flag.h"

#include <cstdlib>

namespace kdgat {
namespace {

/// "" if `form` is one in which progress is written.
std::string problem_of(const std::string& form) {
  if (form == "jsonl" || form == "text") return "";
  return "progress is written as text or jsonl, not " + form;
}

}  // namespace

void ProgressFlag::declare(CommandLine& line) {
  const auto read = [this, &line](const std::string& text) {
    if (const std::string wrong = problem_of(text); !wrong.empty()) line.problem(wrong);
    form_ = text;
  };
  line.value("--progress", read, {"text", "jsonl"});
}

std::unique_ptr<Status> ProgressFlag::status(const Context& context) const {
  std::string form = form_;
  const char* usual = std::getenv("KDGAT_PROGRESS");
  if (form.empty() && usual != nullptr && *usual != '\0') {
    form = usual;
    if (const std::string wrong = problem_of(form); !wrong.empty()) {
      throw Error(ExitCode::kUsage, wrong, "", "KDGAT_PROGRESS");
    }
  }
  if (form != "jsonl") return terminal_status(context);
  return noting_failures(context, make_jsonl_status(context.err, steady_clock()));
}

}  // namespace kdgat
