// kdgat memory report: what a run was planned to need and needed.
#include <ostream>

#include "kdgat/atomic_file.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/execute/run_options.h"
#include "pipeline/memory/memory_report.h"
#include "pipeline/memory/memory_svg.h"
#include "pipeline/run/find_model.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

int report(Context& context, const std::vector<std::string>& words) {
  std::string name, svg, root = "runs";
  CommandLine line(context, "kdgat memory report");
  line.word(name, Offer::kRuns);
  line.value("--svg", svg, Offer::kFiles);
  line.value("--root", root, Offer::kFiles);
  line.parse(words);
  if (name.empty()) {
    throw Error(ExitCode::kUsage, "kdgat memory report needs a run",
                "a run's folder or id: kdgat memory report 01JD");
  }
  const fs::path run = find_run(name, root);
  const std::vector<StepMemory> steps = read_run_memory(run);
  if (steps.empty()) {
    throw Error(ExitCode::kData, run.string() + ": no step of it left a memory.json");
  }
  if (!svg.empty()) write_file(svg, memory_svg("memory of run " + run.filename().string(), steps));
  if (context.json) {
    print_json(context, "kdgat.memory.report",
               {{"run", run.filename().string()}, {"steps", memory_report_json(steps)}});
  } else {
    context.out << memory_report_text(steps);
  }
  return 0;
}

/// Of an estimate's words: the stage is a word of kdgat plan.
[[noreturn]] void refuse_estimate(const Context& context, std::vector<std::string> words) {
  const std::string flag = "--stage";
  std::erase(words, flag);
  for (std::string& word : words) {
    if (word.starts_with(flag + "=")) word.erase(0, flag.size() + 1);
  }
  words.emplace_back("--estimate");
  throw moved(context, "kdgat memory estimate", "kdgat plan", words);
}

constexpr const char* kMemoryHelp =
    R"(Report what memory a run planned and used.

  kdgat memory report 01JD                          planned against measured, each stage
  kdgat memory report runs/my/01JD... --svg memory.svg

usage: kdgat memory report RUN [--svg FILE] [--root DIR] [--json]

The report's error is that of the planned peak: of tensors, or of all that a stage without tensors
holds beyond its context. --svg draws memory over time, to be opened in a browser. kdgat plan
shows what a run needs; without data, kdgat plan --estimate.
)";

int memory_verb(Context& context, const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "estimate") {
    refuse_estimate(context, {arguments.begin() + 1, arguments.end()});
  }
  return report(context, read_action(context, "memory", arguments, {"report"}).words);
}

}  // namespace

Verb make_memory_verb() {
  return {"memory", "report what memory a run planned and used", Needs::kNothing, memory_verb,
          help_text(kMemoryHelp)};
}

}  // namespace kdgat
