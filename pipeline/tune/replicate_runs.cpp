#include "pipeline/tune/replicate_runs.h"

#include <fcntl.h>
#include <sys/types.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <set>

#include "kdgat/exact_json.h"
#include "pipeline/execute/child.h"
#include "pipeline/run/run_record.h"
#include "pipeline/show/text.h"
#include "pipeline/system/log.h"
#include "pipeline/system/machine.h"
#include "pipeline/system/signals.h"
#include "pipeline/tune/admission.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr int kWaitMilliseconds = 50;
constexpr const char* kSeedsName = "seeds";

std::string replicate_name(const Replicate& one) { return "seed " + std::to_string(one.seed); }

/// Out of memory in a stage, or killed for memory.
bool lacked_memory(int code) {
  return code == static_cast<int>(ExitCode::kGpuMemory) ||
         code == static_cast<int>(ExitCode::kHostMemory);
}

/// Carries out one call of run_replicates().
class ReplicateRuns {
 public:
  ReplicateRuns(Run& group, std::vector<Replicate>& list, Status& status,
                const ReplicateSettings& settings)
      : group_(group),
        list_(list),
        status_(status),
        settings_(settings),
        admission_({{"here", room_of(settings)}}, settings.at_once),
        clock_(steady_clock()) {}

  int go() {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      take_up(list_[i]);
      if (has_come_to_end(list_[i])) {
        status_.end({replicate_name(list_[i]), "kept", "run " + short_run(list_[i].run), 0, 0});
      } else {
        list_[i].exit_code.reset();
        list_[i].error.reset();
        admission_.add(i, std::max<int64_t>(1, settings_.bytes));
      }
    }
    save();
    if (admission_.waiting() > 0) status_.begin(kSeedsName);
    int told = 0;
    for (;;) {
      if (stop_code() == 0) start_some();
      if (working_.empty()) break;
      if (is_urgent()) {
        for (auto& [at, one] : working_) one.child->kill();
      }
      if (stop_ != told) {
        told = stop_;
        for (auto& [at, one] : working_) ::kill(one.child->pid(), signal_of_stop_code(told));
      }
      hear();
    }
    save();
    return exit_code();
  }

 private:
  struct Working {
    std::unique_ptr<Child> child;
    OwnedFd request, output;
    double started = 0;
    uint64_t memory = 0;
    std::optional<int> code;
    std::optional<std::string> error;
  };

  static int64_t room_of(const ReplicateSettings& settings) {
    return std::max<int64_t>(1, settings.room > 0
                                    ? settings.room
                                    : settings.bytes * static_cast<int64_t>(settings.at_once));
  }

  int stop_code() {
    if (stop_ == 0) stop_ = pending_signal();
    return stop_;
  }

  void save() { group_.describe({{"replicates", record::write<json>(list_)}}); }

  /// Whether all its steps are done, be its figures as required or not.
  static bool has_come_to_end(const Replicate& one) {
    return one.exit_code == 0 || one.exit_code == static_cast<int>(ExitCode::kUnmet);
  }

  /// A replicate that ended after this program was killed has said so in its own run; where figures
  /// are required it is begun again, which keeps its steps and judges them.
  void take_up(Replicate& one) const {
    if (one.run.empty()) return;
    const auto said = seeds_of_run(replicate_folder(group_.folder(), one));
    if (!said) one.run.clear();
    if (!said || !said->exit_code) {
      one.exit_code.reset();
    } else if (said->exit_code != 0) {
      one.exit_code = said->exit_code;
    } else if (!one.exit_code && said->requirements.is_null()) {
      one.exit_code = 0;
    }
  }

  void start_some() {
    while (const auto start = admission_.next()) {
      Replicate& one = list_[start->trial];
      Working now;
      ReplicateRequest request = settings_.request;
      request.seed = one.seed;
      now.request = memory_file(exact_dump(record::write<json>(request)));
      now.output = open_file(group_.folder() / ("seed-" + std::to_string(one.seed) + ".log"),
                             O_WRONLY | O_APPEND | O_CREAT);
      ChildSpec spec;
      spec.verb = "replicate-child";
      spec.executable = settings_.executable;
      spec.request_fd = now.request.get();
      spec.output_fd = now.output.get();
      spec.environment = settings_.environment;
      spec.lock_fd = group_.lock_fd();
      now.child = std::make_unique<Child>(spec);
      now.started = clock_();
      working_[start->trial] = std::move(now);
    }
  }

  void hear() {
    const int share = std::max(1, kWaitMilliseconds / static_cast<int>(working_.size()));
    for (auto at = working_.begin(); at != working_.end();) {
      Working& now = at->second;
      const bool is_alive = now.child->poll(
          share, [&](std::string_view line) { take_line(list_[at->first], now, line); });
      if (is_alive) {
        ++at;
        continue;
      }
      const Working ended = std::move(now);
      const std::size_t index = at->first;
      at = working_.erase(at);
      end(index, ended);
    }
    show();
  }

  void take_line(Replicate& one, Working& now, std::string_view text) {
    const auto line = record::read<ReplicateLine>(json::parse(text, nullptr, false));
    if (line.run) {
      one.run = *line.run;
      return save();
    }
    if (line.answer) {
      now.code = line.answer;
      now.error = line.error;
      return;
    }
    if (line.event == "progress") now.memory = line.memory.value_or(0);
    if (line.event != "message" || line.level == "info") return;
    const std::string said = line.text.value_or("");
    if (line.level == "error") {
      Failure failure = line.failure ? line.failure->get<Failure>() : Failure{"", {{"", said, ""}}};
      failure.step = replicate_name(one) + (failure.step.empty() ? "" : ": " + failure.step);
      return status_.failure(failure);
    }
    // What the data and the options make a stage say it says for every seed.
    if (told_.insert(said).second) status_.message(line.level.value_or(""), said);
  }

  void end(std::size_t index, const Working& ended) {
    Replicate& one = list_[index];
    const ChildEnd& how = ended.child->end();
    const int code = how.signal != 0 ? 128 + how.signal : how.exit_code;
    one.exit_code = ended.code.value_or(code == 0 ? 1 : code);
    one.error = ended.error;
    one.seconds = clock_() - ended.started;
    if (!one.error && !ended.code) {
      one.error = "its process ended with " + std::to_string(code) + "; log: " +
                  (group_.folder() / ("seed-" + std::to_string(one.seed) + ".log")).string();
      status_.failure({replicate_name(one), {{"", *one.error, ""}}});
    }
    if (stop_code() == 0 && lacked_memory(*one.exit_code) && admission_.requeue_larger(index)) {
      one.exit_code.reset();
      status_.message("warning", replicate_name(one) +
                                     ": out of memory; it is tried again with fewer beside it");
      return save();
    }
    admission_.finish(index);
    const bool is_good = one.exit_code == 0;
    const bool is_stopped = !is_good && stop_ != 0;
    status_.end({replicate_name(one),
                 is_good      ? "done"
                 : is_stopped ? "interrupted"
                              : "failed",
                 one.run.empty() ? "" : "run " + short_run(one.run), *one.seconds, ended.memory});
    save();
  }

  void show() {
    const auto done = std::count_if(list_.begin(), list_.end(),
                                    [](const Replicate& one) { return one.exit_code.has_value(); });
    uint64_t memory = 0;
    for (const auto& [at, one] : working_) memory += one.memory;
    if (working_.empty()) return;
    status_.progress({kSeedsName,
                      "",
                      "runs",
                      done,
                      static_cast<int64_t>(list_.size()),
                      {{"running", working_.size()}},
                      memory});
  }

  int exit_code() const {
    const auto first = std::find_if(list_.begin(), list_.end(),
                                    [](const Replicate& one) { return one.exit_code != 0; });
    if (first == list_.end()) return 0;
    return stop_ != 0 ? stop_ : first->exit_code.value_or(1);
  }

  Run& group_;
  std::vector<Replicate>& list_;
  Status& status_;
  const ReplicateSettings& settings_;
  Admission admission_;
  Clock clock_;
  std::map<std::size_t, Working> working_;
  std::set<std::string> told_;
  int stop_ = 0;
};

}  // namespace

ReplicatePlan plan_replicates(std::size_t seeds, int cores, int threads, int nproc, bool is_cpu,
                              int at_once) {
  const auto all = static_cast<int>(std::min<std::size_t>(seeds, 1000));
  ReplicatePlan out;
  if (at_once > 0) {
    out.at_once = static_cast<std::size_t>(std::min(at_once, all));
  } else if (is_cpu) {
    const int each = std::max(1, threads) * nproc;
    out.at_once = static_cast<std::size_t>(std::clamp(cores / each, 1, std::max(1, all)));
  }
  const int beside = static_cast<int>(out.at_once) * nproc;
  out.threads = threads > 0 ? threads : std::max(1, cores / beside);
  return out;
}

int run_replicates(Run& group, std::vector<Replicate>& list, Status& status,
                   const ReplicateSettings& settings) {
  return ReplicateRuns(group, list, status, settings).go();
}

}  // namespace kdgat
