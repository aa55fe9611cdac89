// `kdgat plan`: the words of `kdgat run`, and instead of running, what memory each stage needs and
// which batch fits, on this machine or for a card that is not here.
#include <iostream>

#include "pipeline/execute/run_session.h"
#include "pipeline/memory/memory_options.h"
#include "pipeline/memory/memory_table.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

json step_json(const PlannedStep& step, const StageAnswer& answer) {
  json out = {{"step", step.spec.name},
              {"stage", step.spec.stage},
              {"action", step.action == Action::kKeep ? "keep" : "run"}};
  if (answer.code != 0) {
    out["exit_code"] = answer.code;
    json problems = json::array();
    for (const Diagnostic& d : answer.diagnostics) problems.push_back(d.text());
    out["problems"] = std::move(problems);
  }
  out["memory"] = answer.result.value("memory", json());
  return out;
}

constexpr const char* kPlanHelp =
    R"(Say what memory each stage needs and which batch fits, without training.

  kdgat plan --preset smoke                         on this machine
  kdgat plan my.yaml --gpu v100-16                  on a card that is not here
  kdgat plan --preset kdgat --data logs/ --device 8GiB --static
  kdgat plan my.yaml --memory-limit 4GiB --json

usage: kdgat plan [what kdgat run takes] [options]

  --device SIZE        plan for a card of this size; any other word is the device of kdgat run
  --gpu NAME           plan for a card by its name, e.g. v100-16, a100-40, t4-16, rtx3090-24
  --memory-limit SIZE  memory a stage may use in all
  --static             count from shapes alone; else a few batches are run to measure
  --json               results as JSON

The data are imported if they are not yet: batches depend on their graphs. Ends with 5 if a stage
does not fit, and says what would help.
)";

int plan_verb(Context& context, const std::vector<std::string>& arguments) {
  MemoryOptions memory;
  const RunSession session(context, arguments,
                           {"kdgat plan", [&](CommandLine& line, RunOptions& options) {
                              memory.declare(line);
                              memory.declare_static(line);
                              memory.declare_device(line, options.profile);
                            }});
  install_signal_flags();
  const auto status = terminal_status(context);
  status->announce(session.step_names());
  session.tell_notes(*status);
  const std::optional<PreparedData> data = session.import(*status);
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
      plans.push_back({step.spec.name, answer.result.value("memory", json())});
      return;
    }
    if (code == 0) code = answer.code;
    for (const Diagnostic& d : answer.diagnostics) status->failure({step.spec.name, {d}});
  });
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
    if (one.plan.is_null()) status->message("info", one.step + ": plans no memory");
  }
  return code;
}

}  // namespace

Verb make_plan_verb() {
  return {"plan", "say what memory each stage needs and which batch fits, here or on another card",
          Needs::kPlugins, plan_verb, help_text(kPlanHelp)};
}

}  // namespace kdgat
