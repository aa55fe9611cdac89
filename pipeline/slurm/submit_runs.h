// Makes the folders of prepared runs and gives their scripts to SLURM.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline/slurm/prepared_runs.h"
#include "pipeline/slurm/submission.h"

namespace kdgat {

struct SubmittedRuns {
  std::vector<JobTask> tasks;               ///< one a run
  std::map<std::string, std::string> jobs;  ///< of each step that was submitted
};

/// `site`: the name of the site profile. Where sbatch refuses a step, or a signal comes, what was
/// submitted is cancelled and the runs end with that error's code: throws it.
SubmittedRuns submit_runs(const PreparedRuns& runs, const std::string& site, Submitter& submitter);

}  // namespace kdgat
