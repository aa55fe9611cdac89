#include "pipeline/slurm/job_failure.h"

#include <algorithm>
#include <array>
#include <set>

#include "kdgat/error.h"
#include "pipeline/show/text.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

constexpr int kSigKill = 9;

bool is_in(const std::string& state, const std::set<std::string>& states) {
  return states.contains(state);
}

bool is_waiting(const std::string& state) {
  return is_in(state, {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
                       "SPECIAL_EXIT", "RESV_DEL_HOLD"});
}

bool is_running(const std::string& state) {
  return is_in(state, {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT",
                       "RESIZING"});
}

std::string exit_text(const JobReport& report) {
  if (!report.exit_code) return "";
  const int signal = report.exit_signal.value_or(0);
  return " with " + std::to_string(*report.exit_code) + ":" + std::to_string(signal);
}

/// What slurmstepd writes into a job's output when it, or the kernel, ends it for memory.
std::string memory_line(const std::string& tail) {
  for (const char* sign : {"oom_kill", "oom-kill", "exceeded memory limit",
                           "Exceeded job memory limit", "Exceeded step memory limit"}) {
    const std::size_t at = tail.find(sign);
    if (at == std::string::npos) continue;
    const std::size_t begin = tail.rfind('\n', at) + 1;  // npos + 1 = 0
    return tail.substr(begin, tail.find('\n', at) - begin);
  }
  return "";
}

/// The last error the job's output tells of; "" if there is none.
std::string error_line(const std::string& tail) {
  const std::string sign = "error: ";
  const std::size_t at = tail.rfind(sign);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + sign.size();
  return tail.substr(begin, tail.find('\n', begin) - begin);
}

class Judge {
 public:
  Judge(const JobReport& report, const StepTrace& trace) : report_(report), trace_(trace) {}

  Verdict verdict() const {
    const std::string& state = report_.state;
    if (is_waiting(state)) return held();
    if (is_running(state)) return {JobPhase::kRunning, FailureClass::kNone, ""};
    if (trace_.is_done && report_.exit_code == static_cast<int>(ExitCode::kUnmet)) {
      const std::string error = error_line(trace_.output_tail);
      return ended(FailureClass::kUnmet, error.empty() ? "a figure is not as required" : error);
    }
    if (trace_.is_done) return {JobPhase::kDone, FailureClass::kNone, ""};
    if (is_in(state, {"OUT_OF_MEMORY"})) {
      return ended(FailureClass::kHostMemory, "SLURM says " + state + exit_text(report_));
    }
    if (is_in(state, {"TIMEOUT", "DEADLINE"})) {
      return ended(FailureClass::kTimeLimit, "SLURM says " + state);
    }
    if (state == "PREEMPTED") return ended(FailureClass::kPreemption, "SLURM says " + state);
    if (is_in(state, {"NODE_FAIL", "BOOT_FAIL"})) {
      return ended(FailureClass::kNodeFailure,
                   "SLURM says " + state + (report_.nodes.empty() ? "" : " on " + report_.nodes));
    }
    if (state == "CANCELLED" || state == "REVOKED") return cancelled();
    return by_witnesses();
  }

 private:
  static Verdict ended(FailureClass failure, std::string because) {
    return {JobPhase::kEnded, failure, std::move(because)};
  }

  /// A job SLURM holds after it could not start it on a node waits for ever.
  Verdict held() const {
    if (report_.reason.find("launch_failed") != std::string::npos ||
        report_.reason.find("launch failed") != std::string::npos) {
      return ended(FailureClass::kNodeFailure, "SLURM holds it: " + report_.reason);
    }
    if (report_.reason == "DependencyNeverSatisfied") {
      return ended(FailureClass::kNeed, "a step it needs did not end well");
    }
    return {JobPhase::kWaiting, FailureClass::kNone, report_.reason};
  }

  /// By whom: SLURM itself over memory or a dependency, or a person.
  Verdict cancelled() const {
    const bool never_ran =
        report_.elapsed.empty() || report_.elapsed.find_first_of("123456789") == std::string::npos;
    if (report_.reason == "DependencyNeverSatisfied") {
      return ended(FailureClass::kNeed, "a step it needs did not end well");
    }
    if (const std::string why = memory_evidence(); !why.empty() && !never_ran) {
      return ended(FailureClass::kHostMemory, why);
    }
    return ended(FailureClass::kCancelled,
                 "cancelled" + std::string(never_ran ? " before it began" : ""));
  }

  /// Two that agree on a lack of memory; "" if there are not.
  std::string memory_evidence() const {
    if (std::string line = memory_line(trace_.output_tail); !line.empty()) return line;
    const bool was_killed = report_.exit_signal == kSigKill ||
                            report_.exit_code == 128 + kSigKill || report_.exit_code == kSigKill ||
                            report_.derived_code == 128 + kSigKill;
    const uint64_t used = std::max(report_.memory_used, trace_.memory_used);
    // What was measured last may be a moment old: near the limit counts.
    const bool was_full =
        report_.memory_asked > 0 &&
        static_cast<double>(used) >= 0.95 * static_cast<double>(report_.memory_asked);
    if (was_killed && was_full) {
      return "killed at " + format_bytes(used) + " of " + format_bytes(report_.memory_asked);
    }
    return "";
  }

  /// FAILED, COMPLETED without a result, or a state this program does not know.
  Verdict by_witnesses() const {
    const int own = trace_.end_code.value_or(-1);
    if (own == static_cast<int>(ExitCode::kHostMemory)) {
      return ended(FailureClass::kHostMemory, first_line(trace_.error, "the journal ends with 82"));
    }
    // On the CPU what a stage has to fit is the job's memory.
    if (own == static_cast<int>(ExitCode::kDoesNotFit) && !trace_.is_on_card) {
      return ended(FailureClass::kHostMemory, first_line(trace_.error, "the journal ends with 5"));
    }
    if (own == static_cast<int>(ExitCode::kGpuMemory)) {
      return ended(FailureClass::kGpuMemory, first_line(trace_.error, "the journal ends with 81"));
    }
    if (const std::string why = memory_evidence(); !why.empty()) {
      return ended(FailureClass::kHostMemory, why);
    }
    if (own == static_cast<int>(ExitCode::kRequeue)) {
      return ended(FailureClass::kTimeLimit, "checkpointed, but not queued again");
    }
    if (is_stop_code(own)) {
      return ended(FailureClass::kCancelled, "checkpointed after a signal to end");
    }
    if (report_.reason == "JobLaunchFailure" && trace_.starts == 0) {
      return ended(
          FailureClass::kNodeFailure,
          "it could not be started" + (report_.nodes.empty() ? "" : " on " + report_.nodes));
    }
    if (report_.state == "COMPLETED") {
      return ended(FailureClass::kBug,
                   own > 0 ? "SLURM says COMPLETED, but the step ended with " + std::to_string(own)
                           : "SLURM says COMPLETED, but there is no step.json");
    }
    const std::string said = "SLURM says " + report_.state + exit_text(report_);
    if (trace_.end_code) return ended(FailureClass::kBug, first_line(trace_.error, said));
    const std::string error = error_line(trace_.output_tail);
    if (!error.empty()) return ended(FailureClass::kBug, error);
    return ended(FailureClass::kBug,
                 said + (trace_.starts == 0 ? ", and the step never began"
                                            : ", and the step's journal just stops"));
  }

  static std::string first_line(const std::string& text, const std::string& otherwise) {
    const std::string line = text.substr(0, text.find('\n'));
    return line.empty() ? otherwise : line;
  }

  const JobReport& report_;
  const StepTrace& trace_;
};

struct FailureRow {
  const char* name;
  Remedy remedy;
};

const FailureRow& row_of(FailureClass failure) {
  static constexpr std::array<FailureRow, 11> kRows = {
      {{"", Remedy::kNone},
       {"host out of memory", Remedy::kMoreMemory},
       {"GPU out of memory", Remedy::kSmallerPacks},
       {"time limit", Remedy::kRequeue},
       {"preempted", Remedy::kRequeue},
       {"node failure", Remedy::kExcludeNode},
       {"failed", Remedy::kStop},
       {"cancelled", Remedy::kRequeue},
       {"not as required", Remedy::kStop},
       {"needs a failed step", Remedy::kRequeue},
       {"unknown", Remedy::kRequeue}}};
  return kRows.at(static_cast<std::size_t>(failure));
}

}  // namespace

Remedy Verdict::remedy() const { return row_of(failure).remedy; }

Verdict judge(const JobReport* report, const StepTrace& trace) {
  if (report != nullptr) return Judge(*report, trace).verdict();
  if (trace.is_done) return {JobPhase::kDone, FailureClass::kNone, ""};
  if (trace.was_cancelled) return {JobPhase::kEnded, FailureClass::kCancelled, "kdgat cancel"};
  // What the journal says is all there is.
  if (!trace.end_code) {
    return {JobPhase::kEnded, FailureClass::kUnknown,
            "SLURM knows the job no longer, and " +
                std::string(trace.starts == 0 ? "the step never began"
                                              : "the step's journal just stops")};
  }
  JobReport gone;
  gone.state = "a job it no longer knows";
  return Judge(gone, trace).verdict();
}

std::string name_of(FailureClass failure) { return row_of(failure).name; }

std::string name_of(Remedy remedy) {
  static constexpr std::array kNames = {"",
                                        "more memory",
                                        "smaller packs",
                                        "submit again",
                                        "exclude the node",
                                        "stop: look at the log"};
  return kNames.at(static_cast<std::size_t>(remedy));
}

}  // namespace kdgat
