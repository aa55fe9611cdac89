// The process of one stage: starts it, hears it, passes on what signals ask, and says how it ended:
// a death by signal becomes an answer that says which and why. Knows no plan.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "pipeline/execute/child.h"
#include "pipeline/execute/memory_trace.h"
#include "pipeline/plugin/stage_call.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/show/status.h"
#include "pipeline/system/machine.h"

namespace kdgat {

struct StepOutcome {
  StageAnswer answer;
  uint64_t peak_resident_bytes = 0;  ///< 0 = not measured
  MemoryTrace anonymous;             ///< resident anonymous memory from the start of the process
  nlohmann::json last_progress;      ///< the last progress event, null if there was none
};

/// A stage's events, with the memory its process holds now.
using OnEvent = std::function<void(const nlohmann::json& event, uint64_t memory_bytes)>;

/// Runs one call to its end, or until a signal asks to stop.
using Execute = std::function<StepOutcome(const StageCall& call, const StepFolder& folder,
                                          const OnEvent& on_event)>;

struct ProcessSettings {
  std::filesystem::path executable = "/proc/self/exe";
  int threads = 1;
  std::string allocator;  ///< PYTORCH_CUDA_ALLOC_CONF, unless the user's environment has one
  int lock_fd = -1;
  Machine machine;
};

/// A process for each stage.
Execute execute_in_child(const ProcessSettings& settings);
/// For debugging: in this process.
Execute execute_here();

/// Asks a stage's plan() in a process of its own, without a run folder.
StageAnswer plan_in_child(const StageCall& call, const ProcessSettings& settings);

/// What a process of stages is started with. `allocator`: PYTORCH_CUDA_ALLOC_CONF.
ChildSpec child_spec(const ProcessSettings& settings, const std::string& allocator);
/// The answer in the place of the one that a process which ended like this did not give; the last
/// lines of its log explain a death. `oom_kills` counted while it ran.
StageAnswer answer_of_end(const ChildEnd& end, uint64_t oom_kills, uint64_t peak_bytes,
                          const Machine& machine, const std::filesystem::path& log_file);

/// One such process. To be polled until it has ended.
class StageProcess {
 public:
  /// `request_fd` becomes its standard input. `log_file`: gets its output, and its last lines
  /// explain a death; empty = the host's standard error.
  StageProcess(const StageCall& call, int request_fd, const std::filesystem::path& log_file,
               const ProcessSettings& settings);

  /// Waits up to `milliseconds`. False once it has ended.
  bool poll(int milliseconds, const OnEvent& on_event);
  /// Passes on what signals have asked of the host.
  void forward_signals();
  void kill() { child_->kill(); }
  bool has_ended() const { return has_ended_; }
  bool has_answered() const { return answer_.has_value(); }
  /// Valid once it has ended.
  StepOutcome outcome() const;

 private:
  const ProcessSettings& settings_;
  std::filesystem::path log_file_;
  OwnedFd output_;
  Clock clock_;
  double started_;
  uint64_t kills_before_;
  std::unique_ptr<Child> child_;
  std::optional<StageAnswer> answer_;
  StepOutcome seen_;
  uint64_t memory_ = 0;
  int told_ = 0;  ///< the exit code it was last asked to leave with
  bool has_ended_ = false;
};

/// Waits until it has ended, passing on what signals ask.
StepOutcome supervise(StageProcess& process, const OnEvent& on_event);

}  // namespace kdgat
