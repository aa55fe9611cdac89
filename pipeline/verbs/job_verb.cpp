// `kdgat job RUN STEP`, hidden: what a batch script starts (job_script.cpp). One step of a
// submitted run, as it was frozen: kept if it is done, continued from its checkpoint if it was
// begun.
#include <algorithm>
#include <cstdlib>

#include "pipeline/cli/command_line.h"
#include "pipeline/execute/acceptance.h"
#include "pipeline/execute/begin_run.h"
#include "pipeline/execute/frozen_run.h"
#include "pipeline/execute/ranks.h"
#include "pipeline/execute/run_origin.h"
#include "pipeline/execute/runner.h"
#include "pipeline/plugin/plugin_host.h"
#include "pipeline/records/record_targets.h"
#include "pipeline/run/plan_reasons.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/table.h"
#include "pipeline/slurm/job_script.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Where it runs, for run.json.
json place_of_job() {
  json place = json::object();
  const auto note = [&](const char* key, const char* variable) {
    if (const char* value = std::getenv(variable)) place[key] = value;
  };
  note("job", "SLURM_JOB_ID");
  note("array_task", "SLURM_ARRAY_TASK_ID");
  note("node", "SLURMD_NODENAME");
  note("restarts", "SLURM_RESTART_COUNT");
  return place;
}

/// The plugin of a step as it is now. Throws Error(kPlugin) if it would no longer give what was
/// submitted.
void check_plugin(const PlannedStep& step, const PluginCatalog& catalog) {
  const PluginDescription* plugin = catalog.find(step.spec.stage);
  if (plugin == nullptr) {
    throw Error(ExitCode::kPlugin, "no plugin for stage " + step.spec.stage,
                "kdgat plugins list shows what there is; KDGAT_PLUGIN_PATH and --plugin-dir say "
                "where to look");
  }
  const int frozen = version_of(step);
  if (plugin->version != frozen) {
    throw Error(ExitCode::kPlugin,
                step.spec.stage + ": the plugin is of version " + std::to_string(plugin->version) +
                    ", the run was submitted with version " + std::to_string(frozen),
                "submit again");
  }
  check_library(*plugin);
}

/// Bytes the stage's process may hold: the least of what was asked, what the run was planned for,
/// and what the job has.
uint64_t limit_of(const FrozenRun& frozen, const std::string& device, const Machine& machine,
                  uint64_t asked) {
  uint64_t limit = asked;
  const auto lower = [&](uint64_t bytes) {
    if (bytes > 0) limit = limit == 0 ? bytes : std::min(limit, bytes);
  };
  lower(frozen.memory_limit);
  if (const auto job = machine.job_memory(); job && device == "cpu") {
    std::error_code ignored;
    uint64_t data = 0;
    if (frozen.data) data = fs::file_size(frozen.data->folder / "graphs.safetensors", ignored);
    lower(stage_limit(*job, ignored ? 0 : data));
  }
  return limit;
}

/// Whether a step that is done is as required: 0, or kUnmet after what is not was told.
int judge_step(const FrozenRun& frozen, Run& run, const std::string& step, Status& status) {
  const std::vector<JudgedRequirement> judged = judge_job(frozen, run.folder(), step);
  if (!judged.empty()) run.record_requirements(judged);
  return tell_unmet(judged, status);
}

int job_verb(Context& context, const std::vector<std::string>& arguments) {
  std::string folder, name;
  uint64_t asked = 0;
  CommandLine line(context, "kdgat job");
  line.word(folder);
  line.word(name);
  line.value("--memory-limit", [&](const std::string& text) { asked = parse_bytes(text); });
  line.parse(arguments);
  if (folder.empty() || name.empty()) {
    throw Error(ExitCode::kUsage, "kdgat job needs the folder of a submitted run and a step",
                "kdgat submit writes the scripts that start it");
  }
  install_signal_flags();
  fs::path run_folder = fs::absolute(folder).lexically_normal();
  if (!run_folder.has_filename()) run_folder = run_folder.parent_path();
  const FrozenRun frozen = load_frozen_run(run_folder);
  const Plan plan = plan_of_step(frozen, run_folder, name);
  const PlannedStep& step = plan.steps.back();
  const auto status = terminal_status(context);
  status->announce({name});
  if (step.kept) {
    status->end({name, "kept", "its result is in " + step.kept->folder.string(), 0, 0});
    return 0;
  }
  check_plugin(step, context.catalog);
  Run run =
      Run::join(run_folder, name, [&](const std::string& whom) { status->message("info", whom); });
  const auto done = find_past_step(run.id(), run.step_folder(name));
  if (done && done->fingerprint == step.fingerprint && done->missing.empty()) {
    status->end({name, "kept", "it was done already", 0, 0});
    return judge_step(frozen, run, name, *status);
  }
  run.record_step(name, "running", {{"slurm", place_of_job()}});

  ProcessSettings process;
  process.threads =
      frozen.threads > 0 ? frozen.threads : std::max(1, process.machine.threads() / frozen.nproc);
  process.allocator = frozen.allocator;
  process.lock_fd = run.lock_fd();
  const std::string device = frozen.device.at(name);
  // Only a job knows its machine. One with a card is not replaced by one without.
  if (device != "cpu" || !run.document().contains("machine")) {
    run.describe(
        {{"machine", machine_json(process.machine, device)}, {"threads", process.threads}});
  }
  MemoryRequest memory;
  memory.limit = static_cast<int64_t>(limit_of(frozen, device, process.machine, asked));
  process.machine.settle_memory();
  const uint64_t all = process.machine.memory_for_runs(static_cast<uint64_t>(memory.limit));
  memory.available = static_cast<int64_t>(process.machine.limited_memory());
  const RecordTargets targets = targets_of_run(run.folder(), "", true);
  const int code = record_run(run, targets, *status, [&] {
    return run_plan({plan, context.catalog, device, process.threads, frozen.seed, frozen.data,
                     memory, frozen.packs},
                    run, *status, execute_in_ranks(process, frozen.nproc, all, context.catalog));
  });
  if (code != 0) return code;
  context.err << std::flush;
  context.out << joined_tables_text({{name, read_result(run.step_folder(name))}});
  return judge_step(frozen, run, name, *status);
}

}  // namespace

Verb make_job_verb() { return {"job", "", Needs::kPlugins, job_verb, nullptr, true}; }

}  // namespace kdgat
