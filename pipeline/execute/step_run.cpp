#include "pipeline/execute/step_run.h"

#include "pipeline/records/records.h"

namespace kdgat {
namespace {

using nlohmann::json;

json fingerprint_config(const RunnerInput& input, const PlannedStep& step,
                        const PluginDescription& plugin, const json& request) {
  return {{"step", step.spec.name},
          {"stage", step.spec.stage},
          {"version", plugin.version},
          {"options", step.spec.options.values},
          {"origin", step.spec.options.origin},
          {"seed", input.seed},
          {"device", input.device},
          {"threads", input.threads},
          {"memory", request.at("memory")},
          {"inputs", request.at("inputs")},
          {"fingerprint", step.fingerprint},
          {"ingredients", step.ingredients},
          {"plugin",
           {{"library", plugin.library.string()},
            {"library_hash", plugin.library_hash},
            {"runtime", plugin.runtime}}},
          {"kdgat", KDGAT_VERSION}};
}

/// Recorded before its folder is touched: the run knows of every step that was begun.
std::filesystem::path begin(Run& run, const std::string& step) {
  run.record_step(step, "running");
  return run.step_folder(step);
}

}  // namespace

StepRun::StepRun(const RunnerInput& input, const PlannedStep& step, Run& run,
                 const std::map<std::string, Made>& made, Status& status)
    : step_(step),
      plugin_(*input.catalog.find(step.spec.stage)),
      status_(status),
      call_{"run", plugin_, make_request(input, step, made, begin(run, step.spec.name)),
            step.spec.allocator},
      folder_(run.step_folder(step.spec.name),
              fingerprint_config(input, step, plugin_, call_.request)),
      log_(folder_.path() / "log.txt") {
  folder_.write("request.json", call_.to_json());
  std::filesystem::remove(folder_.path() / kOomReport);  // of an earlier attempt
  folder_.journal({{"event", "start"}, {"run", run.id()}, {"reason", step.reason}});
  folder_.journal(memory_event(machine_, index_));
}

void StepRun::finish(const StepOutcome& outcome) {
  const StageAnswer& answer = outcome.answer;
  for (const Diagnostic& d : answer.diagnostics) log_.write("error", d.text());
  folder_.write("memory.json", memory_record(outcome, announced_));
  folder_.journal(memory_event(machine_, index_));
  if (answer.code == 0) {
    if (answer.result.contains("metrics")) folder_.write("metrics.json", answer.result["metrics"]);
    folder_.journal({{"event", "end"}, {"code", 0}});
    folder_.finish(step_, plugin_.library_hash, answer.result);
  } else {
    folder_.journal(
        {{"event", "end"}, {"code", answer.code}, {"error", diagnostics_text(answer.diagnostics)}});
  }
}

void StepRun::on_event(const json& event, uint64_t memory) {
  const std::string& name = step_.spec.name;
  const std::string kind = event.value("event", "");
  if (kind == "progress") {
    status_.progress(read_progress(name, event, memory));
    return;  // how far it is now is of no use later; epochs come as metrics
  }
  folder_.journal(event);
  if (kind == "metrics" && event.value("what", json()) == "epoch") remember_epoch(event);
  if (kind == "metrics" && event.value("what", json()) == "memory") remember_plan(event);
  if (kind == "log") {
    const auto text = [&](const char* key) {
      const auto found = event.find(key);
      return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    log_.write(text("level"), text("message"));
    if (text("level") != "info") status_.message(text("level"), name + ": " + text("message"));
  }
}

/// The machine's memory is recorded every five epochs, as published.
void StepRun::remember_epoch(const json& event) {
  constexpr int64_t kEvery = 5;
  const json index = event.value("index", json());
  if (index.is_number_integer()) index_ = index;
  if (index_ % kEvery == 0) folder_.journal(memory_event(machine_, index_));
}

void StepRun::remember_plan(const json& event) {
  const json values = event.value("values", json());
  if (values.is_object() && values.value("event", json()) == "plan") {
    announced_ = values.value("plan", json());
  }
}

Progress StepRun::read_progress(const std::string& name, const json& event, uint64_t memory) {
  Progress now;
  now.step = name;
  now.memory_bytes = memory;
  try {
    now.phase = event.value("phase", "");
    now.unit = event.value("unit", "");
    now.done = event.value("done", int64_t{0});
    now.total = event.value("total", int64_t{0});
    now.metrics = event.value("metrics", json::object());
  } catch (const json::exception&) {
    now.unit = "badly formed progress";
  }
  return now;
}

}  // namespace kdgat
