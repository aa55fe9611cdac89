#include "pipeline/execute/lone_step.h"

#include <algorithm>

#include "kdgat/kinds.h"

namespace kdgat {

using nlohmann::json;

PlannedStep lone_step(const Profile& profile, const PluginCatalog& catalog) {
  PlannedStep step;
  step.spec = *std::find_if(profile.steps.begin(), profile.steps.end(),
                            [&](const StepSpec& one) { return one.name == profile.only; });
  for (const PortDescription& port : catalog.find(step.spec.stage)->inputs) {
    if (port.kind == kind::kGraphs) step.inputs[port.name] = {"data"};
  }
  return step;
}

json plan_alone(const PlannedStep& step, const Profile& profile, const PluginCatalog& catalog,
                const json& facts, MemoryRequest memory) {
  PreparedData data;
  data.facts = facts;
  memory.limit = static_cast<int64_t>(profile.memory_limit);
  memory.measure = false;
  const Plan plan;
  const RunnerInput input{plan, catalog, "cpu", 1, profile.seed, data, memory};
  ProcessSettings process;
  process.allocator = profile.allocator;
  const PluginDescription& plugin = *catalog.find(step.spec.stage);
  const StageAnswer answer = plan_in_child(
      {"plan", plugin, make_request(input, step, {}, ""), step.spec.allocator}, process);
  if (answer.code != 0) throw Error(static_cast<ExitCode>(answer.code), answer.diagnostics);
  if (answer.planned().memory.is_null()) {
    throw Error(ExitCode::kUsage, "the stage " + plugin.name + " plans no memory",
                "stages that train do: kdgat plugins list");
  }
  return answer.result;
}

}  // namespace kdgat
