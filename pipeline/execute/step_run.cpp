#include "pipeline/execute/step_run.h"

#include <algorithm>

#include "kdgat/event.h"
#include "kdgat/exact_json.h"
#include "pipeline/run/journal.h"
#include "pipeline/run/step_metrics.h"

namespace kdgat {
namespace {

using nlohmann::json;

json fingerprint_config(const PlannedStep& step, const PluginDescription& plugin,
                        const json& request) {
  json out = request;
  out.erase("run_dir");  // where it stands
  out.update({{"stage", step.spec.stage},
              {"version", plugin.version},
              {"origin", step.spec.options.origin},
              {"fingerprint", step.fingerprint},
              {"ingredients", step.ingredients},
              {"plugin",
               {{"library", plugin.library.string()},
                {"library_hash", plugin.library_hash},
                {"runtime", plugin.runtime}}},
              {"kdgat", KDGAT_VERSION}});
  return out;
}

/// Recorded before its folder is touched: the run knows of every step that was begun.
std::filesystem::path begin(Run& run, const std::string& step) {
  run.record_step(step, "running");
  return run.step_folder(step);
}

/// The epoch of the last record of the machine's memory that earlier attempts left; 0 without one.
int64_t last_memory_index(const std::filesystem::path& step_folder) {
  int64_t last = 0;
  for (const auto& line : JournalReader(step_folder / kJournalFile).read()) {
    if (kind_of(line.event) != EventKind::kMetrics) continue;
    const auto told = line.event.get<MetricsEvent>();
    if (told.what == kMachine) last = std::max(last, told.index);
  }
  return last;
}

}  // namespace

StepRun::StepRun(const RunnerInput& input, const PlannedStep& step, Run& run,
                 const std::map<std::string, Made>& made, Status& status)
    : step_(step),
      plugin_(*input.catalog.find(step.spec.stage)),
      status_(status),
      call_{"run", plugin_, make_request(input, step, made, begin(run, step.spec.name)),
            step.spec.allocator},
      folder_(run.step_folder(step.spec.name), fingerprint_config(step, plugin_, call_.request)),
      log_(folder_.path() / "log.txt"),
      now_(folder_.path()) {
  folder_.write("request.json", exact_form(call_.to_json()));  // the stage reads it
  std::filesystem::remove(folder_.path() / kOomReport);        // of an earlier attempt
  memory_index_ = last_memory_index(folder_.path());
  folder_.journal(StartEvent{run.id(), step.reason});
  record_memory();
}

void StepRun::finish(const StepOutcome& outcome) {
  const StageAnswer& answer = outcome.answer;
  for (const Diagnostic& d : answer.diagnostics) log_.write("error", d.text());
  folder_.write("memory.json", memory_record(outcome, announced_));
  record_memory();
  if (answer.code == 0) {
    const StageResult told = answer.result.get<StageResult>();
    if (!told.metrics.is_null()) folder_.write(kMetricsFile, told.metrics);
    const std::vector<Figure> figures = figures_of(told);
    if (!figures.empty()) folder_.write(kFiguresFile, figures_document(figures));
    folder_.journal(EndEvent{});
    json result = answer.result;
    result.erase("figures");  // they are in figures.json
    folder_.finish(step_, plugin_.library_hash, result);
  } else {
    folder_.journal(EndEvent{answer.code, diagnostics_text(answer.diagnostics)});
  }
}

void StepRun::on_event(const json& event, uint64_t memory) {
  const std::string& name = step_.spec.name;
  const EventKind kind = kind_of(event);
  if (kind == EventKind::kProgress) {
    const Progress now = read_progress(name, event, memory);
    status_.progress(now);
    now_.tell(now);
    return;  // how far it is now is of no use later; epochs come as metrics
  }
  folder_.journal(event);
  if (kind == EventKind::kMetrics) {
    const MetricsEvent told = event.get<MetricsEvent>();
    if (told.what == kEpoch) remember_epoch(told);
    if (told.what == kMemory) remember_plan(told);
  } else if (kind == EventKind::kLog) {
    const LogEvent log = event.get<LogEvent>();
    log_.write(log.level, log.message);
    if (log.level != "info") status_.message(log.level, name + ": " + log.message);
  }
}

/// The machine's memory is recorded every five epochs, as published.
void StepRun::remember_epoch(const MetricsEvent& event) {
  constexpr int64_t kEvery = 5;
  if (event.index >= 0) index_ = event.index;
  if (index_ % kEvery == 0) record_memory();
}

/// A step that is continued repeats epochs behind its checkpoint; the curve does not go back.
void StepRun::record_memory() {
  memory_index_ = std::max(memory_index_, index_);
  folder_.journal(memory_event(machine_, memory_index_));
}

void StepRun::remember_plan(const MetricsEvent& event) {
  if (json plan = announced_plan(event); !plan.is_null()) announced_ = std::move(plan);
}

Progress StepRun::read_progress(const std::string& name, const json& event, uint64_t memory) {
  ProgressEvent told = event.get<ProgressEvent>();
  return {name,
          std::move(told.phase),
          std::move(told.unit),
          told.done,
          told.total,
          std::move(told.metrics),
          memory};
}

}  // namespace kdgat
