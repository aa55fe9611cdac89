// A submitted run's jobs: <run>/submission.json, and the way to sbatch and scancel. Owns that file
// and <run>/slurm/ (scripts, the jobs' output, frozen.json); does not decide what is submitted.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/slurm/job_failure.h"
#include "pipeline/slurm/job_script.h"
#include "pipeline/system/owned_fd.h"
#include "pipeline/system/program.h"

namespace kdgat {

/// One time a step was given to sbatch.
struct Attempt {
  std::string job;              ///< SLURM's number; of an array, the array's
  std::optional<int64_t> task;  ///< of an array
  std::string submitted;        ///< ISO time
  double unix_time = 0;
  std::filesystem::path script;
  std::filesystem::path output;  ///< where the job writes
  JobResources resources;
  std::string because;  ///< "submitted", or the remedy: "more memory: 2 GiB -> 4 GiB"
  bool cancelled = false;

  /// "123", "123_4": how SLURM's tools name it.
  std::string id() const { return task ? job + "_" + std::to_string(*task) : job; }
};

struct SubmittedStep {
  std::string step, stage;
  std::vector<std::string> needs;  ///< steps of the same submission
  SiteOptions site;
  std::filesystem::path kept;     ///< where its result stood already (of a task of an array)
  std::vector<Attempt> attempts;  ///< the last one counts
};

struct Submission {
  std::string command;  ///< what was typed
  std::string site;     ///< name of the site profile
  std::filesystem::path executable;
  std::vector<std::filesystem::path> plugin_folders;
  int64_t seed = 0;
  std::vector<JobTask> array;  ///< every run of the array this one is of, itself too; empty: none
  std::vector<SubmittedStep> steps;

  /// Throws Error(kData) if the run was not submitted or the file is not what save() wrote.
  static Submission load(const std::filesystem::path& run_folder);
  void save(const std::filesystem::path& run_folder) const;
  SubmittedStep* find(const std::string& step);
};

/// Held while submission.json is changed. Throws Error(kUsage) if another kdgat has it.
OwnedFd lock_submission(const std::filesystem::path& run_folder);

/// What the step left behind since its last attempt was submitted.
StepTrace read_trace(const std::filesystem::path& run_folder, const SubmittedStep& step);

/// Gives scripts to sbatch and remembers which jobs there are, so that half a submission can be
/// taken back.
class Submitter {
 public:
  explicit Submitter(RunProgram run) : run_(std::move(run)) {}

  /// Throws Error(kUsage) if this machine has no sbatch, or SLURM takes no array of `tasks`.
  void check(std::size_t tasks) const;
  /// Writes the script and submits it; the number of the job. Throws Error(kUsage) with what sbatch
  /// said, after everything submitted before was cancelled.
  std::string submit(const JobScript& script, const std::filesystem::path& file,
                     const std::vector<std::string>& needs);
  /// Cancels what was submitted; a sentence about it, for a message.
  std::string take_back();

 private:
  RunProgram run_;
  std::vector<std::string> jobs_;
};

}  // namespace kdgat
