// Submitting failed steps again, each with what helps its failure, and not for ever.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/slurm/job_failure.h"
#include "pipeline/slurm/submission.h"

namespace kdgat {

/// A step of a submission as it stands.
struct StepState {
  SubmittedStep* step = nullptr;
  const JobReport* report = nullptr;  ///< nullptr: SLURM knows the job no longer
  StepTrace trace{};
  Verdict verdict{};

  int64_t restarts() const;      ///< by SLURM, or as the journal counts them
  uint64_t memory_used() const;  ///< bytes, 0 = unknown
};

/// What a failed step is to be submitted with, or why it is not.
struct NextAttempt {
  bool is_refused = false;
  JobResources resources;
  std::string because;
};
NextAttempt next_attempt(const StepState& state);

struct RetryNote {
  std::string step, job;  ///< job "" = not submitted again
  std::string text;       ///< why
};

/// Submits every step of a run that has ended without being done; what it needs of these comes
/// first. Saves the submission after each. `states` in the order of the submission's steps. Throws
/// as Submitter::submit().
std::vector<RetryNote> retry_steps(const std::filesystem::path& run_folder, Submission& submission,
                                   const std::vector<StepState>& states, const RunProgram& run);

}  // namespace kdgat
