#include "pipeline/execute/runner.h"

#include <algorithm>

#include "pipeline/execute/step_run.h"
#include "pipeline/run/run_figures.h"
#include "pipeline/system/record.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

/// What a stage says of its memory.
struct ToldMemory {
  nlohmann::json planned, actual;
  static auto keys() {
    return std::tuple{key("planned", &ToldMemory::planned), key("actual", &ToldMemory::actual)};
  }
};

using nlohmann::json;

std::string outcome_word(int code) { return code == 85 ? "checkpointed" : "interrupted"; }

/// Carries out one plan; the state of a run_plan() call.
class PlanRun {
 public:
  PlanRun(const RunnerInput& input, Run& run, Status& status, const Execute& execute)
      : input_(input), run_(run), status_(status), execute_(execute), clock_(steady_clock()) {}

  int go() {
    for (const PlannedStep& step : input_.plan.steps) {
      if (step.action == Action::kKeep) {
        keep(step);
      } else if (const std::string lost = lost_need(step); !lost.empty()) {
        skip(step, lost);
      } else if (stop_code() != 0) {
        break;
      } else {
        run_step(step);
      }
    }
    // A signal that came after the last step has stopped nothing.
    const bool is_complete = made_.size() == input_.plan.steps.size();
    exit_code_ = is_complete ? 0 : cancel_code_ != 0 ? cancel_code_ : exit_code_;
    run_.finish(exit_code_, headline_to_record(run_.folder(), input_.catalog));
    return exit_code_;
  }

 private:
  int stop_code() {
    if (cancel_code_ == 0) cancel_code_ = pending_signal();
    return cancel_code_;
  }

  void keep(const PlannedStep& step) {
    made_[step.spec.name] = {step.kept->folder, step.kept->facts};
    status_.end({step.spec.name, "kept", step.reason, 0, 0});
  }

  std::string lost_need(const PlannedStep& step) const {
    for (const std::string& need : step.needs) {
      if (lost_.contains(need)) return need;
    }
    return "";
  }

  void skip(const PlannedStep& step, const std::string& need) {
    lost_[step.spec.name] = true;
    run_.record_step(step.spec.name, "skipped", {{"reason", "needs " + need}});
    status_.end({step.spec.name, "skipped", "needs " + need + ", which failed", 0, 0});
  }

  void run_step(const PlannedStep& step) {
    const std::string& name = step.spec.name;
    const double started = clock_();
    status_.begin(name);
    StepOutcome outcome;
    try {
      outcome = attempt(step);
    } catch (const Error& e) {
      outcome.answer.code = static_cast<int>(e.code());
      outcome.answer.diagnostics = e.diagnostics();
    }
    const double seconds = clock_() - started;
    const StageAnswer& answer = outcome.answer;
    StepEnd end{name, "done", "", seconds, outcome.peak_resident_bytes};
    json more = {{"seconds", seconds}, {"peak_resident_bytes", outcome.peak_resident_bytes}};
    if (answer.code == 0) {
      const json facts = answer.made().facts;
      made_[name] = {run_.step_folder(name), facts.is_null() ? json::object() : facts};
      end.text = summary_of(name, outcome);
    } else if (is_stop_code(answer.code) || pending_signal() != 0) {
      cancel_code_ = pending_signal() != 0 ? pending_signal() : answer.code;
      end.outcome = outcome_word(cancel_code_);
      end.text = stopped_text(name, outcome);
    } else {
      lost_[name] = true;
      if (exit_code_ == 0) exit_code_ = answer.code;
      end.outcome = "failed";
      more["exit_code"] = answer.code;
      more["error"] = diagnostics_text(answer.diagnostics);
    }
    status_.end(end);
    if (end.outcome == "failed") {
      const std::filesystem::path folder = run_.step_folder(name);
      const bool has_report = std::filesystem::exists(folder / kOomReport);
      status_.failure({name, answer.diagnostics, has_report ? (folder / kOomReport).string() : "",
                       (folder / "log.txt").string()});
    }
    const bool is_stopped = end.outcome != "done" && end.outcome != "failed";
    run_.record_step(name, is_stopped ? "interrupted" : end.outcome, more);
  }

  StepOutcome attempt(const PlannedStep& step) {
    StepRun now(input_, step, run_, made_, status_);
    StepOutcome outcome =
        execute_(now.call(), now.folder(),
                 [&](const json& event, uint64_t memory) { now.on_event(event, memory); });
    now.finish(outcome);
    return outcome;
  }

  static std::string summary_of(const std::string& name, const StepOutcome& outcome) {
    if (const auto summary = outcome.answer.made().summary) return *summary;
    if (outcome.last_progress.is_null()) return "";
    return format_progress(StepRun::read_progress(name, outcome.last_progress, 0));
  }

  /// "checkpoint at epoch 3, step 41; kdgat run continues it"
  static std::string stopped_text(const std::string& name, const StepOutcome& outcome) {
    std::string text = diagnostics_text(outcome.answer.diagnostics);
    if (text.empty() && !outcome.last_progress.is_null()) {
      text = "at " + format_progress(StepRun::read_progress(name, outcome.last_progress, 0));
    }
    return text + (text.empty() ? "" : "; ") + "kdgat run continues it";
  }

  const RunnerInput& input_;
  Run& run_;
  Status& status_;
  const Execute& execute_;
  Clock clock_;
  std::map<std::string, Made> made_;
  std::map<std::string, bool> lost_;
  int exit_code_ = 0;
  int cancel_code_ = 0;
};

}  // namespace

json memory_record(const StepOutcome& outcome, const json& announced) {
  auto told = record::read<ToldMemory>(outcome.answer.made().memory);
  json actual = told.actual.is_null() ? json::object() : std::move(told.actual);
  actual["peak_resident_bytes"] = outcome.peak_resident_bytes;
  actual["peak_anonymous_bytes"] = outcome.anonymous.peak();
  return {{"planned", told.planned.is_null() ? announced : told.planned},
          {"actual", std::move(actual)},
          {"timeline", outcome.anonymous.json()}};
}

json make_request(const RunnerInput& input, const PlannedStep& step,
                  const std::map<std::string, Made>& made, const std::filesystem::path& run_dir) {
  json inputs = json::object();
  for (const PortDescription& port : input.catalog.find(step.spec.stage)->inputs) {
    const auto producers = step.inputs.find(port.name);
    if (producers == step.inputs.end()) continue;
    for (const std::string& producer : producers->second) {
      json item = {
          {"name", producer}, {"kind", port.kind}, {"path", nullptr}, {"facts", json::object()}};
      if (producer == "data" && input.data) {
        if (!input.data->folder.empty())
          item["path"] = std::filesystem::absolute(input.data->folder).string();
        item["facts"] = input.data->facts;
      } else if (const auto at = made.find(producer); at != made.end()) {
        if (!at->second.folder.empty())
          item["path"] = std::filesystem::absolute(at->second.folder).string();
        item["facts"] = at->second.facts;
      }
      inputs[port.name].push_back(std::move(item));
    }
  }
  MemoryRequest memory = input.memory;
  if (const auto packs = input.packs.find(step.spec.name); packs != input.packs.end()) {
    memory.packs = packs->second;
  }
  return {{"step", step.spec.name},
          {"options", step.spec.options.values},
          {"device", input.device},
          {"threads", input.threads},
          {"seed", input.seed},
          {"memory", memory},
          {"run_dir", run_dir.empty() ? "" : std::filesystem::absolute(run_dir).string()},
          {"inputs", std::move(inputs)}};
}

int run_plan(const RunnerInput& input, Run& run, Status& status, const Execute& execute) {
  return PlanRun(input, run, status, execute).go();
}

}  // namespace kdgat
