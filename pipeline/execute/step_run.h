// One step while its stage runs: its folder, journal and log, what its stage says, and at the end
// what it leaves. Decides nothing: who runs the steps is the runner (one after another) or the
// sweep (several at once).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "kdgat/event.h"
#include "pipeline/execute/runner.h"
#include "pipeline/run/run_work.h"

namespace kdgat {

/// What a stage leaves in its folder when it ran out of memory.
inline constexpr const char* kOomReport = "oom-report.md";

class StepRun {
 public:
  /// Records the step as running, and makes its folder or takes up the one of an earlier attempt.
  /// All are borrowed. `made`: see make_request().
  StepRun(const RunnerInput& input, const PlannedStep& step, Run& run,
          const std::map<std::string, Made>& made, Status& status);

  const StageCall& call() const { return call_; }
  StepFolder& folder() { return folder_; }
  /// Progress is shown, all else goes into the journal.
  void on_event(const nlohmann::json& event, uint64_t memory);
  /// Writes what came of it: memory.json, and of a step that is done metrics.json and its marker.
  void finish(const StepOutcome& outcome);

  static Progress read_progress(const std::string& step, const nlohmann::json& event,
                                uint64_t memory);

 private:
  void remember_epoch(const MetricsEvent& event);
  void record_memory();
  void remember_plan(const MetricsEvent& event);

  const PlannedStep& step_;
  const PluginDescription& plugin_;
  Status& status_;
  StageCall call_;
  StepFolder folder_;
  StepLog log_;
  NowFile now_;
  Machine machine_;
  int64_t index_ = 0;         ///< the last epoch
  int64_t memory_index_ = 0;  ///< of the last record of the machine's memory
  nlohmann::json announced_;  ///< plan of the memory, as the stage told it
};

}  // namespace kdgat
