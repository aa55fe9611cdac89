// Why a job ended as it did, and what helps. Pure: from what SLURM says of it, what the job's own
// journal says, and what slurmstepd wrote into its output; never from the exit code alone.
#pragma once

#include <optional>
#include <string>

#include "pipeline/slurm/job_states.h"

namespace kdgat {

/// What a step left behind of its last attempt.
struct StepTrace {
  bool is_done = false;         ///< step.json stands, with every output
  int64_t starts = 0;           ///< attempts the journal knows
  std::optional<int> end_code;  ///< of the last attempt; none = it did not get to say
  std::string error;            ///< of the last attempt
  bool was_cancelled = false;   ///< by kdgat cancel
  uint64_t memory_used = 0;     ///< most a process of it held, bytes; 0 = unknown
  uint64_t device_memory = 0;   ///< of the device it was planned for, bytes; 0 = unknown
  bool is_on_card = false;      ///< the step runs on a GPU
  std::string output_tail;      ///< last lines of the job's output: slurmstepd writes there, too
};

enum class JobPhase { kWaiting, kRunning, kDone, kEnded };

/// Their names and remedies: a table in the same order, in job_failure.cpp.
enum class FailureClass {
  kNone,
  kHostMemory,
  kGpuMemory,
  kTimeLimit,
  kPreemption,
  kNodeFailure,
  kBug,
  kCancelled,
  kUnmet,    ///< the step is done, and a figure is not as required
  kNeed,     ///< never started: a step it needs failed
  kUnknown,  ///< SLURM no longer knows the job, and the journal does not say
};

enum class Remedy { kNone, kMoreMemory, kSmallerPacks, kRequeue, kExcludeNode, kStop };

struct Verdict {
  JobPhase phase = JobPhase::kWaiting;
  FailureClass failure = FailureClass::kNone;
  std::string because;  ///< what was seen, in words
  Remedy remedy() const;
};

/// `report`: nullptr if SLURM knows the job no longer.
Verdict judge(const JobReport* report, const StepTrace& trace);

/// "host out of memory", "time limit", ...; "" for kNone.
std::string name_of(FailureClass failure);
/// "more memory", "smaller packs", ...; "" for kNone.
std::string name_of(Remedy remedy);

}  // namespace kdgat
