// The jobs of a submitted run and of the runs of its array: which there are, how each step is on
// the disk and in SLURM, and their end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/slurm/job_retry.h"
#include "pipeline/slurm/job_states.h"
#include "pipeline/slurm/submission.h"

namespace kdgat {

/// A run of a submission, as it stands on the disk and in SLURM.
struct JobsOfRun {
  std::filesystem::path folder;
  Submission submission;
};

/// The run that is named, and with it every run of the same array; `seed` picks one of those.
/// Throws as find_run() and Submission::load(), Error(kUsage) where no run has the seed.
std::vector<JobsOfRun> jobs_of(const std::string& name, const std::filesystem::path& root,
                               const std::optional<int64_t>& seed);

/// What SLURM knows of the last job of each step.
JobReports ask_slurm(const std::vector<JobsOfRun>& runs, const RunProgram& run);

/// Of each step that was submitted; `run` and `reports` must outlive them.
std::vector<StepState> states_of(JobsOfRun& run, const JobReports& reports);

/// Writes the end of jobs that were killed into run.json, which has them as running. Leaves a run
/// that cannot be written.
void settle(const JobsOfRun& run, const std::vector<StepState>& states);

struct CancelledJob {
  std::filesystem::path run;
  std::string step, job;
  std::string state;  ///< what it was, as SLURM says
};

/// Ends the jobs that wait or run. Throws Error(kStageFailed) where scancel does not.
std::vector<CancelledJob> cancel_jobs(std::vector<JobsOfRun>& runs, const JobReports& reports,
                                      const RunProgram& run);

}  // namespace kdgat
