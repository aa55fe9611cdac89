// `kdgat plan`: the words of `kdgat run`, and instead of running, what memory each stage needs and
// which batch fits, on this machine or for a card that is not here; with --explain what would run
// and why; with --estimate the memory of a stage without data.
#include <iostream>

#include "pipeline/execute/run_session.h"
#include "pipeline/memory/memory_options.h"
#include "pipeline/memory/memory_table.h"
#include "pipeline/run/plan_reasons.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/plan/plan_estimate.h"
#include "pipeline/verbs/plan/progress_flag.h"
#include "pipeline/verbs/plan/run_preview.h"

namespace kdgat {
namespace {

using nlohmann::json;

json step_json(const PlannedStep& step, const StageAnswer& answer) {
  json out = {{"step", step.spec.name}, {"stage", step.spec.stage}, {"action", action_word(step)}};
  if (answer.code != 0) {
    out["exit_code"] = answer.code;
    json problems = json::array();
    for (const Diagnostic& d : answer.diagnostics) problems.push_back(d.text());
    out["problems"] = std::move(problems);
  }
  out["memory"] = answer.planned().memory;
  return out;
}

constexpr const char* kPlanHelp =
    R"(Say what a run would do, without training: what memory each stage needs and which batch fits.

  kdgat plan --preset smoke                         on this machine
  kdgat plan my.yaml --gpu v100-16                  on a card that is not here
  kdgat plan --preset kdgat --data logs/ --device 8GiB --static
  kdgat plan my.yaml --memory-limit 4GiB --json
  kdgat plan my.yaml --explain                      which steps would run or are kept, and why
  kdgat plan classifier --estimate                  one line without data, for graphs as in hcrl_sa
  kdgat plan autoencoder --preset teacher --estimate --gpu t4-16 batch_size=1024
  kdgat plan classifier --graphs 150000 --nodes 40 --edges 80 -v
  kdgat plan graphsage --legacy hidden_dim=64 num_layers=2

usage: kdgat plan [what kdgat run takes] [options]
       kdgat plan [what kdgat run takes] --explain
       kdgat plan STAGE [key=value ...] --estimate [options]

  --device SIZE        plan for a card of this size; any other word is the device of kdgat run
  --gpu NAME           plan for a card by its name, e.g. v100-16, a100-40, t4-16, rtx3090-24
  --memory-limit SIZE  memory a stage may use in all
  --static             count from shapes alone; else a few batches are run to measure
  --explain            what kdgat run --dry-run says: no memory is planned, nothing is changed
  --json               results as JSON

The data are imported if they are not yet: batches depend on their graphs. Ends with 5 if a stage
does not fit, and says what would help.

--estimate reads no data: it plans one stage from shapes, for data of these sizes, each of which
asks for an estimate by itself; with -v the whole table:
  --graphs N           windows there are (default 9364)
  --nodes X, --edges X means of a window (default 28.9 and 49.2)
  --num-ids N          identifiers (default 2049)
  --num-users N, --num-items N, --num-ratings N
                       of graphsage (default 1000, 1000 and 100000)
  --legacy             the published formula beside what graphsage holds; without hidden_dim and
                       num_layers the published tables
  --interactive        ask for the sizes of graphsage

kdgat memory report RUN sets what a run planned beside what it used.
)";

int plan_memory(const RunSession& session, const MemoryOptions& memory, Status& status) {
  install_signal_flags();
  session.tell_notes(status);
  const std::optional<PreparedData> data = session.import(status);
  const Plan plan = session.plan_for(data);
  RunnerInput input = session.input(plan, data);
  memory.apply(input.memory);

  int code = 0;
  json steps = json::array();
  std::vector<PlannedMemory> plans;
  ask_stages(input, session.process(), [&](const PlannedStep& step, const StageAnswer& answer) {
    if (const int stop = pending_signal(); stop != 0) {
      throw Error(static_cast<ExitCode>(stop), "interrupted");
    }
    steps.push_back(step_json(step, answer));
    if (answer.code == 0) {
      plans.push_back({step.spec.name, answer.planned().memory});
      return;
    }
    if (code == 0) code = answer.code;
    for (const Diagnostic& d : answer.diagnostics) status.failure({step.spec.name, {d}});
  });
  const Context& context = session.context;
  if (context.json) {
    print_json(context, "kdgat.plan",
               {{"device", session.device},
                {"memory", json(input.memory)},
                {"data", data ? json(data->summary) : json()},
                {"steps", std::move(steps)},
                {"exit_code", code}});
    return code;
  }
  context.err << std::flush;
  const std::string table = memory_table(plans);
  if (!table.empty()) context.out << '\n' << table << '\n' << memory_lines(plans);
  for (const PlannedMemory& one : plans) {
    if (const std::string parts = component_table(one); !parts.empty()) {
      context.out << '\n' << parts;
    }
  }
  for (const PlannedMemory& one : plans) {
    if (one.plan.is_null()) status.message("info", one.step + ": plans no memory");
  }
  return code;
}

int plan_verb(Context& context, const std::vector<std::string>& arguments) {
  MemoryOptions memory;
  EstimateFlags estimate;
  ProgressFlag progress;
  RunFlags flags{"kdgat plan", [&](CommandLine& line, RunOptions& options) {
                   progress.declare(line);
                   memory.declare(line);
                   memory.declare_device(line, options.profile);
                   estimate.declare(line);
                 }};
  flags.takes_seeds = flags.explains = true;
  RunOptions options = parse_run_options(context, arguments, flags);
  const bool explains = options.dry_run;
  if (explains && estimate.is_asked()) {
    throw Error(ExitCode::kUsage, "--explain and --estimate cannot be combined",
                "ask for one of them");
  }
  if (explains && memory.are_said()) {
    throw Error(ExitCode::kUsage, "a dry run plans no memory: a card and --static have no use",
                "leave out --explain or -n for the plan of memory");
  }
  if (estimate.is_asked()) return estimate_memory(context, std::move(options), estimate, memory);
  RunSession session(context, std::move(options), false, explains);
  const std::unique_ptr<Status> status = progress.status(context);
  std::vector<std::string> names = session.step_names();
  if (explains) names.insert(names.begin(), "plan");
  status->announce(names);
  if (explains) return preview_run(session, *status, !session.seeds.empty());
  return plan_memory(session, memory, *status);
}

}  // namespace

Verb make_plan_verb() {
  return {"plan", "say what would run and why, what memory it needs and which batch fits",
          Needs::kPlugins, plan_verb, help_text(kPlanHelp)};
}

}  // namespace kdgat
