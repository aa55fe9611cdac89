#include "pipeline/tune/sweep.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "kdgat/atomic_file.h"
#include "kdgat/event.h"
#include "kdgat/margins.h"
#include "pipeline/execute/frozen_run.h"
#include "pipeline/execute/step_run.h"
#include "pipeline/run/journal.h"
#include "pipeline/run/memory_plan.h"
#include "pipeline/run/run_record.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/text.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/signals.h"
#include "pipeline/tune/trial_process.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr int kPollMilliseconds = 50;
constexpr const char* kTrialFile = "trial.json";
/// Most times one trial is begun, whatever becomes of its process.
constexpr int kAttempts = 6;

/// A status for stages that run beside others: their progress is not shown, their messages are.
class MessagesOnly : public Status {
 public:
  explicit MessagesOnly(Status& status) : status_(status) {}
  void announce(const std::vector<std::string>&) override {}
  void begin(const std::string&) override {}
  void progress(const Progress&) override {}
  void end(const StepEnd&) override {}
  void message(const std::string& level, const std::string& text) override {
    status_.message(level, text);
  }
  void failure(const Failure& one) override { status_.failure(one); }

 private:
  Status& status_;
};

/// Out of memory, or refused beforehand as too large for what was reserved.
bool is_out_of_memory(int code) { return code == 5 || code == 81 || code == 82; }

int64_t whole(const std::optional<double>& bytes) {
  return static_cast<int64_t>(bytes.value_or(0));
}

/// Carries out one sweep; the state of a run_sweep() call.
class SweepRun {
 public:
  SweepRun(const RunnerInput& input, Run& run, Status& status, const ProcessSettings& process,
           const std::map<std::string, Made>& made, SweepRecord& record)
      : input_(input),
        run_(run),
        status_(status),
        quiet_(status),
        process_settings_(process),
        made_(made),
        record_(record),
        rungs_(record.options.first_rung, record.options.eta, record.options.is_less_better()),
        clock_(steady_clock()) {}

  int go() {
    for (std::size_t i = 0; i < record_.trials.size(); ++i) take_up(i);
    if (count("waiting") > 0) {
      started_ = clock_();
      ask_plans();
      if (stop_code() == 0) run_trials();
    }
    save();
    process_.reset();
    return exit_code();
  }

 private:
  Trial& trial(int64_t id) { return record_.trials[static_cast<std::size_t>(id)]; }
  std::size_t count(const std::string& state) const {
    return static_cast<std::size_t>(
        std::count_if(record_.trials.begin(), record_.trials.end(),
                      [&](const Trial& one) { return one.state == state; }));
  }

  int stop_code() {
    if (stop_ == 0) stop_ = pending_signal();
    return stop_;
  }

  int exit_code() const {
    if (stop_ != 0 && (count("waiting") > 0 || count("interrupted") > 0)) return stop_;
    for (const Trial& one : record_.trials) {
      if (one.state == "failed") return one.code == 0 ? 1 : one.code;
    }
    return 0;
  }

  void save() {
    write_file(
        run_.folder() / kSweepFile,
        record::write<json>(record_.saved()).dump(1, ' ', false, json::error_handler_t::replace) +
            "\n");
  }

  /// What earlier runs, or an earlier process of this one, left of a trial.
  void take_up(std::size_t i) {
    Trial& one = record_.trials[i];
    const bool is_kept = one.step->action == Action::kKeep;
    const std::filesystem::path folder =
        is_kept ? one.step->kept->folder : run_.step_folder(one.name);
    const auto told = record::read<SavedTrial>(read_json(folder / kTrialFile));
    one.needed = told.needed;
    one.reserved = told.reserved;
    one.planned = told.planned;
    one.seconds = told.seconds;
    one.cpu_seconds = told.cpu_seconds;
    if (is_kept) {
      one.state = "kept";
      judge_done(one, read_result(folder).get<StageResult>().metrics);
      status_.end({one.name, "kept", value_text(one), 0, 0});
    } else if (told.stopped_at) {
      one.state = "stopped";
      one.stopped_at = told.stopped_at;
      one.best_epoch = told.best_epoch;
      judge(one, told.metrics);
    }
    remember(i, folder);
  }

  /// What an earlier process of this sweep compared at the rungs: trials to come are compared with
  /// that, too.
  void remember(std::size_t i, const std::filesystem::path& folder) {
    if (record_.options.first_rung == 0) return;
    const StepJournal journal = read_journal(folder);
    const auto told = journal.series.find(record_.options.metric);
    if (told == journal.series.end()) return;
    for (const auto& [epoch, value] : told->second) {
      rungs_.goes_on(static_cast<int64_t>(i), static_cast<int64_t>(epoch), value);
    }
  }

  void judge(Trial& one, const json& metrics) {
    one.metrics = metrics;
    const json value = below(metrics, record_.options.metric);
    if (value.is_number()) one.value = value.get<double>();
  }

  /// By what a step leaves, which is of its best epoch.
  void judge_done(Trial& one, const json& metrics) {
    judge(one, metrics);
    const auto best = static_cast<int64_t>(best_epoch_of(metrics));
    one.best_epoch = best > 0 ? std::optional(best) : std::nullopt;
  }

  /// Of a trial on its way: the best so far, in case it is stopped.
  void judge_epoch(Trial& one, const MetricsEvent& told, double value) {
    const bool is_best =
        !one.best_epoch || !one.value ||
        (record_.options.is_less_better() ? value < *one.value : value > *one.value);
    if (!is_best) return;
    judge(one, told.values);
    one.best_epoch = told.index;
  }

  std::string value_text(const Trial& one) const {
    if (!one.value) return "";
    json metrics = {{record_.options.metric, *one.value}};
    return format_progress({"", "", "", 0, 0, metrics, 0});
  }

  TrialProcess& process() {
    if (!process_) {
      process_ = std::make_unique<TrialProcess>(run_.folder() / "tune.log", process_settings_);
    }
    return *process_;
  }

  RunnerInput input_for(const Trial& one, int64_t limit, const std::string& device) const {
    RunnerInput out = input_;
    out.device = device;
    out.threads = record_.options.threads;
    out.memory = {};
    out.memory.limit = limit;
    out.memory.own = true;
    if (one.packs) out.packs[one.name] = *one.packs;
    return out;
  }

  /// Asks every stage what its trial needs. Before any of them runs: measuring draws weights, and a
  /// model that is made beside it would get others.
  void ask_plans() {
    const SweepOptions& o = record_.options;
    std::vector<int64_t> left;
    for (std::size_t i = 0; i < record_.trials.size(); ++i) {
      if (record_.trials[i].state == "waiting") left.push_back(static_cast<int64_t>(i));
    }
    status_.begin("measure");
    const double started = clock_();
    const std::size_t all = left.size();
    std::size_t done = 0;
    const int64_t room = std::max<int64_t>(1, o.memory - o.buffer);
    std::reverse(left.begin(), left.end());
    const std::size_t at_once =
        std::max<std::size_t>(1, static_cast<std::size_t>(record_.options.cores));
    while ((!left.empty() || process().out() > 0) && stop_code() == 0) {
      while (!left.empty() && process().out() < at_once) {
        const Trial& one = trial(left.back());
        RunnerInput input = input_for(one, room, o.devices.front());
        input.memory.measure = true;
        process().start(left.back(),
                        {"plan", *input.catalog.find(one.step->spec.stage),
                         make_request(input, *one.step, made_, ""), one.step->spec.allocator});
        left.pop_back();
      }
      const bool is_alive = process().poll(
          kPollMilliseconds, [](int64_t, const json&) {},
          [&](int64_t id, const TrialEnd& end) {
            take_plan(trial(id), end);
            ++done;
          });
      if (!is_alive) process_.reset();
      status_.progress({"measure", "", "trials", static_cast<int64_t>(done),
                        static_cast<int64_t>(all), json::object(), 0});
    }
    record_.options.context = static_cast<int64_t>(process().memory());
    for (const std::string& device : o.devices) {
      record_.rooms.push_back({device, std::max<int64_t>(1, room_of(device) - o.buffer)});
    }
    status_.end({"measure", "done", std::to_string(all) + " trials", clock_() - started, 0});
  }

  void take_plan(Trial& one, const TrialEnd& end) {
    const json memory = end.answer.result.get<StageResult>().memory;
    if (end.answer.code != 0 && !is_out_of_memory(end.answer.code)) {
      return fail(one, end.answer.code, end.answer.diagnostics);
    }
    const auto plan = record::read<MemoryPlan>(memory);
    one.planned = whole(plan.predicted);
    one.least = plan.least;
    one.packs = packs_of(memory);
    device_total_ = whole(plan.device.total);
    device_context_ = whole(plan.table.context);
  }

  /// Bytes for trials: on the CPU what there is without the process itself, on a card what is not
  /// its context.
  int64_t room_of(const std::string& device) const {
    if (device == "cpu") return record_.options.memory - record_.options.context;
    return std::min(record_.options.memory, device_total_ - device_context_);
  }

  int64_t reservation_of(const Trial& one) const {
    const SweepOptions& o = record_.options;
    if (o.fixed_reservation > 0) return o.fixed_reservation;
    if (one.planned > 0) {
      const auto most =
          static_cast<int64_t>(margins::kTrialSafety * static_cast<double>(one.planned));
      return std::max(most, one.least) + margins::kTrialSpareBytes;
    }
    // A stage that plans nothing: the device's share of each worker.
    return record_.rooms.front().bytes / std::max<int64_t>(1, static_cast<int64_t>(o.at_once));
  }

  void run_trials() {
    Admission& admission = admission_.emplace(record_.rooms, record_.options.at_once);
    for (std::size_t i = 0; i < record_.trials.size(); ++i) {
      Trial& one = record_.trials[i];
      if (one.state != "waiting") continue;
      if (reservation_of(one) > admission.largest_room() &&
          one.planned > admission.largest_room()) {
        fail(one, static_cast<int>(ExitCode::kDoesNotFit),
             {{"",
               "needs " + format_bytes(static_cast<uint64_t>(one.planned)) + ", and there is " +
                   format_bytes(static_cast<uint64_t>(admission.largest_room())),
               ""}});
        continue;
      }
      admission.add(i, reservation_of(one));
    }
    status_.begin("tune");
    int told = 0;
    while (true) {
      if (stop_code() == 0) start_trials(admission);
      if (admission.is_idle()) break;
      if (is_urgent()) process().kill();
      if (stop_ != told) {
        told = stop_;
        for (const auto& [id, step] : running_) process().cancel(id, told);
      }
      const bool is_alive = process().poll(
          kPollMilliseconds, [&](int64_t id, const json& event) { on_event(id, event); },
          [&](int64_t id, const TrialEnd& end) { on_end(id, end); });
      if (!is_alive) process_.reset();
      record_.options.seconds = clock_() - started_;
      show();
    }
  }

  void start_trials(Admission& admission) {
    while (const auto start = admission.next()) {
      const auto id = static_cast<int64_t>(start->trial);
      Trial& one = trial(id);
      one.state = "running";
      one.reserved = start->bytes;
      ++one.attempts;
      const RunnerInput input =
          input_for(one, start->bytes, record_.options.devices[start->device]);
      auto step = std::make_unique<StepRun>(input, *one.step, run_, made_, quiet_);
      process().start(id, step->call());
      running_[id] = std::move(step);
      save();
    }
  }

  void on_event(int64_t id, const json& event) {
    Trial& one = trial(id);
    running_.at(id)->on_event(event, 0);
    if (record_.options.first_rung == 0 || one.stopped_at) return;
    const MetricsEvent told = event.get<MetricsEvent>();
    if (kind_of(event) != EventKind::kMetrics || told.what != kEpoch) return;
    const json value = below(told.values, record_.options.metric);
    if (!value.is_number()) return;
    judge_epoch(one, told, value);
    if (rungs_.goes_on(id, told.index, value)) return;
    one.stopped_at = told.index;
    process().cancel(id, static_cast<int>(ExitCode::kRequeue));
  }

  void on_end(int64_t id, const TrialEnd& end) {
    Trial& one = trial(id);
    const std::unique_ptr<StepRun> step = std::move(running_.at(id));
    running_.erase(id);
    one.seconds = end.seconds;
    one.cpu_seconds = end.cpu_seconds;
    StepOutcome outcome;
    outcome.answer = end.answer;
    const auto result = end.answer.result.get<StageResult>();
    const auto memory = record::read<MemoryOfStep>(result.memory);
    one.needed = whole(std::max(0.0, record::read<MemoryUse>(memory.actual).tensors));
    step->finish(outcome);
    const int code = end.answer.code;
    if (code == 0) {
      one.stopped_at.reset();
      one.state = "done";
      judge_done(one, result.metrics);
      admission_->finish(static_cast<std::size_t>(id));
    } else if (one.stopped_at && is_stop_code(code)) {
      one.state = "stopped";
      admission_->finish(static_cast<std::size_t>(id));
    } else if (stop_ != 0) {
      one.state = "interrupted";
      admission_->finish(static_cast<std::size_t>(id));
    } else if ((end.died || is_out_of_memory(code)) && try_again(id, end)) {
      return save();
    } else {
      admission_->finish(static_cast<std::size_t>(id));
      fail(one, code, end.answer.diagnostics);
    }
    settle(one, step->folder());
  }

  /// Out of memory, or its process died under it: it waits for twice the memory, in the end for a
  /// device of its own. Which of those that run beside one another brought the process down is not
  /// known: each tries again.
  bool try_again(int64_t id, const TrialEnd& end) {
    Trial& one = trial(id);
    if (one.attempts >= kAttempts) return false;
    const int64_t had = one.reserved;
    if (!admission_->requeue_larger(static_cast<std::size_t>(id))) return false;
    one.state = "waiting";
    run_.record_step(one.name, "pending");
    status_.message("warning", one.name + ": " +
                                   (end.died ? "its process ended (" +
                                                   diagnostics_text(end.answer.diagnostics) + ")"
                                             : std::string("out of memory")) +
                                   " with " + format_bytes(static_cast<uint64_t>(had)) +
                                   "; it is tried again with twice that");
    return true;
  }

  void fail(Trial& one, int code, const std::vector<Diagnostic>& problems) {
    one.state = "failed";
    one.code = code == 0 ? 1 : code;
    one.error = diagnostics_text(problems);
    status_.failure({one.name, problems});
    run_.record_step(one.name, "failed", {{"exit_code", one.code}, {"error", *one.error}});
  }

  /// A trial has come to an end that stands.
  void settle(const Trial& one, StepFolder& folder) {
    SavedTrial told = one;
    std::string text = value_text(one);
    if (one.state == "stopped") {
      text = "stopped at epoch " + std::to_string(*one.stopped_at) + "  " + text;
    } else {
      // What an attempt to come does not take up.
      told.stopped_at = told.best_epoch = std::nullopt;
      told.metrics = json::object();
    }
    folder.write(kTrialFile, record::write<json>(told));
    if (one.state != "failed") {
      const bool is_stopped = one.state == "stopped";
      run_.record_step(one.name, is_stopped ? "skipped" : one.state,
                       is_stopped ? json{{"reason", text}} : json{{"seconds", one.seconds}});
    }
    status_.end({one.name, one.state == "stopped" ? "skipped" : one.state, text, one.seconds,
                 static_cast<uint64_t>(std::max<int64_t>(0, one.needed))});
    save();
  }

  void show() {
    const std::size_t all = record_.trials.size();
    const std::size_t done = all - count("waiting") - count("running");
    json metrics = {{"running", running_.size()}};
    if (const auto best = record_.best()) {
      metrics["best " + record_.options.metric] = *record_.trials[*best].value;
    }
    status_.progress({"tune", "", "trials", static_cast<int64_t>(done), static_cast<int64_t>(all),
                      metrics, process_ ? process_->memory() : 0});
  }

  const RunnerInput& input_;
  Run& run_;
  Status& status_;
  MessagesOnly quiet_;
  const ProcessSettings& process_settings_;
  const std::map<std::string, Made>& made_;
  SweepRecord& record_;
  Rungs rungs_;
  Clock clock_;
  std::unique_ptr<TrialProcess> process_;
  std::map<int64_t, std::unique_ptr<StepRun>> running_;
  std::optional<Admission> admission_;
  int64_t device_total_ = 0, device_context_ = 0;
  double started_ = 0;
  int stop_ = 0;
};

}  // namespace

int run_sweep(const RunnerInput& input, Run& run, Status& status, const ProcessSettings& process,
              const std::map<std::string, Made>& made, SweepRecord& record) {
  return SweepRun(input, run, status, process, made, record).go();
}

}  // namespace kdgat
