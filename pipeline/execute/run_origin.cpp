#include "pipeline/execute/run_origin.h"

#include <set>

#include "pipeline/show/text.h"
#include "pipeline/system/git.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// Of LibTorch as the plugins say with what they were built.
json versions_json(const RunSession& session, const Plan& plan) {
  json stages = json::object();
  std::set<std::string> runtimes;
  for (const PlannedStep& step : plan.steps) {
    const PluginDescription* plugin = session.context.catalog.find(step.spec.stage);
    if (plugin == nullptr) continue;
    stages[plugin->name] = plugin->version;
    if (plugin->runtime != "none") runtimes.insert(plugin->runtime);
  }
  json out = {{"kdgat", KDGAT_VERSION}, {"stages", std::move(stages)}};
  if (!runtimes.empty()) out["libtorch"] = joined({runtimes.begin(), runtimes.end()}, ", ");
  return out;
}

json git_json(const RunSession& session) {
  const auto& file = session.options.profile.config;
  const auto state = read_git(file ? std::filesystem::absolute(*file).parent_path() : ".");
  if (!state) return {};
  json out = {{"folder", state->folder.string()}, {"commit", state->commit}};
  if (!state->branch.empty()) out["branch"] = state->branch;
  if (state->is_dirty) out["dirty"] = *state->is_dirty;
  return out;
}

}  // namespace

json machine_json(const Machine& machine, const std::string& device) {
  json out = {{"cores", machine.cores()}, {"memory_bytes", machine.memory_total()}};
  if (const std::string cpu = machine.cpu_model(); !cpu.empty()) out["cpu"] = cpu;
  if (device != "cpu") {
    if (const auto gpus = machine.gpu_models(); !gpus.empty()) out["gpu"] = joined(gpus, ", ");
  }
  return out;
}

json run_origin(const RunSession& session, const Plan& plan) {
  json out = {{"machine", machine_json(session.machine, session.device)},
              {"versions", versions_json(session, plan)}};
  if (json git = git_json(session); !git.is_null()) out["git"] = std::move(git);
  return out;
}

}  // namespace kdgat
