#include "pipeline/verbs/plan/run_preview.h"

#include <map>
#include <ostream>

#include "pipeline/run/plan_reasons.h"
#include "pipeline/show/table.h"
#include "pipeline/verbs/commands/run_replicates.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// What each stage says of its outputs, in the order in which they would be made.
std::map<std::string, json> ask(const RunSession& session, Status& status, const Plan& plan,
                                const std::optional<PreparedData>& data) {
  return ask_stages(session.input(plan, data), session.process(),
                    [&](const PlannedStep& step, const StageAnswer& answer) {
                      if (answer.code != 0) {
                        throw Error(static_cast<ExitCode>(answer.code), answer.diagnostics);
                      }
                      if (session.context.json) return;
                      status.message("info", step.spec.name + ": plans " + answer.result.dump());
                    });
}

json plan_json(const RunSession& session, const Plan& plan, const std::optional<PreparedData>& data,
               const std::map<std::string, json>& asked) {
  json steps = json::array();
  for (const PlannedStep& step : plan.steps) {
    json item = {{"step", step.spec.name},      {"stage", step.spec.stage},
                 {"action", action_word(step)}, {"reason", step.reason},
                 {"needs", step.needs},         {"fingerprint", step.fingerprint}};
    if (step.kept) item["folder"] = step.kept->folder.string();
    if (const auto facts = asked.find(step.spec.name); facts != asked.end()) {
      item["facts"] = facts->second;
    }
    steps.push_back(std::move(item));
  }
  return {
      {"device", session.device},
      {"threads", session.threads},
      {"fingerprint", plan.fingerprint},
      {"data", data ? json{{"folder", data->folder.string()}, {"summary", data->summary}} : json()},
      {"warnings", plan.warnings},
      {"steps", std::move(steps)}};
}

std::string plan_text(const RunSession& session, const Plan& plan,
                      const std::optional<PreparedData>& data) {
  Table table;
  table.add({"data",
             data                 ? "ready"
             : session.needs_data ? "import"
                                  : "none",
             data                 ? data->summary
             : session.needs_data ? "unknown until imported"
                                  : "no step reads it"});
  for (const PlannedStep& step : plan.steps) {
    table.add({step.spec.name, step.kept ? "kept" : "run", told_reason(step)});
  }
  return table.text();
}

}  // namespace

int preview_run(RunSession& session, Status& status, bool has_seeds) {
  const Context& context = session.context;
  session.tell_notes(status);
  const Place place = session.place();
  if (has_seeds) return preview_replicates(session, status, place.world);
  const std::optional<PreparedData> data = session.find_data();
  const Plan plan = session.plan_for(data);
  session.check_start(plan);
  std::map<std::string, json> asked;
  if (context.verbosity > 0) asked = ask(session, status, plan, data);
  if (context.json) {
    print_json(context, "kdgat.run.plan", plan_json(session, plan, data, asked));
    return 0;
  }
  context.out << plan_text(session, plan, data);
  for (const std::string& warning : plan.warnings) status.message("warning", warning);
  return 0;
}

}  // namespace kdgat
