#include "pipeline/slurm/jobs_of_run.h"

#include <set>

#include "pipeline/run/artifacts.h"
#include "pipeline/run/find_model.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

int code_of(FailureClass failure) {
  return static_cast<int>(failure == FailureClass::kHostMemory  ? ExitCode::kHostMemory
                          : failure == FailureClass::kGpuMemory ? ExitCode::kGpuMemory
                                                                : ExitCode::kStageFailed);
}

void settle_all(const JobsOfRun& of, const std::vector<StepState>& states) {
  std::optional<Run> run;
  for (const StepState& state : states) {
    if (state.verdict.phase != JobPhase::kEnded) continue;
    if (!run) run = Run::join(of.folder, "");
    if (run->status_of(state.step->step) != "running") continue;
    const FailureClass failure = state.verdict.failure;
    const bool has_failed = failure != FailureClass::kCancelled &&
                            failure != FailureClass::kTimeLimit &&
                            failure != FailureClass::kPreemption;
    const int code = has_failed ? code_of(failure) : static_cast<int>(ExitCode::kTerminated);
    json more = {{"error", name_of(failure) + ": " + state.verdict.because}};
    if (has_failed) more["exit_code"] = code;
    run->record_step(state.step->step, has_failed ? "failed" : "interrupted", more);
    run->finish(code);
  }
}

}  // namespace

std::vector<JobsOfRun> jobs_of(const std::string& name, const fs::path& root,
                               const std::optional<int64_t>& seed) {
  fs::path folder = fs::absolute(find_run(name, root)).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  Submission first = Submission::load(folder);
  std::vector<JobsOfRun> runs;
  std::string seeds;
  for (const JobTask& task : first.array) {
    seeds += (seeds.empty() ? "" : ", ") + std::to_string(task.seed);
    std::error_code ignored;
    const bool is_there = fs::exists(task.run_folder / "submission.json", ignored);
    if (is_there && (!seed || *seed == task.seed)) {
      runs.push_back({task.run_folder, Submission::load(task.run_folder)});
    }
  }
  if (first.array.empty() && (!seed || *seed == first.seed)) {
    seeds = std::to_string(first.seed);
    runs.push_back({folder, std::move(first)});
  }
  if (runs.empty()) {
    throw Error(ExitCode::kUsage,
                folder.string() + " has no run with seed " +
                    (seed ? std::to_string(*seed) : std::string("any")),
                "there are: " + seeds);
  }
  return runs;
}

JobReports ask_slurm(const std::vector<JobsOfRun>& runs, const RunProgram& run_slurm) {
  std::set<std::string> jobs;
  for (const JobsOfRun& run : runs) {
    for (const SubmittedStep& step : run.submission.steps) {
      if (!step.attempts.empty()) jobs.insert(step.attempts.back().job);
    }
  }
  return ask_slurm(std::vector<std::string>(jobs.begin(), jobs.end()), run_slurm);
}

std::vector<StepState> states_of(JobsOfRun& run, const JobReports& reports) {
  std::vector<StepState> states;
  for (SubmittedStep& step : run.submission.steps) {
    if (step.attempts.empty()) continue;
    StepState& state = states.emplace_back();
    state.step = &step;
    state.trace = read_trace(run.folder, step);
    const auto report = reports.find(step.attempts.back().id());
    state.report = report == reports.end() ? nullptr : &report->second;
    state.verdict = judge(state.report, state.trace);
  }
  return states;
}

void settle(const JobsOfRun& run, const std::vector<StepState>& states) {
  try {
    settle_all(run, states);
  } catch (const Error&) {
    return;  // another's run is looked at all the same
  }
}

std::vector<CancelledJob> cancel_jobs(std::vector<JobsOfRun>& runs, const JobReports& reports,
                                      const RunProgram& run_slurm) {
  std::vector<CancelledJob> out;
  std::vector<std::string> words = {"scancel"};
  for (JobsOfRun& run : runs) {
    const OwnedFd lock = lock_submission(run.folder);
    run.submission = Submission::load(run.folder);
    for (const StepState& state : states_of(run, reports)) {
      if (state.verdict.phase != JobPhase::kWaiting && state.verdict.phase != JobPhase::kRunning) {
        continue;
      }
      Attempt& attempt = state.step->attempts.back();
      attempt.cancelled = true;
      words.push_back(attempt.id());
      out.push_back({run.folder, state.step->step, attempt.id(),
                     state.report == nullptr ? "" : state.report->state});
    }
  }
  if (out.empty()) return out;
  const auto answer = run_slurm(words);
  if (!answer || answer->exit_code != 0) {
    throw Error(ExitCode::kStageFailed,
                "nothing was cancelled: " +
                    (answer ? "scancel says: " + answer->err : "there is no scancel here"),
                "cancel them where SLURM is: " + shell_line(words));
  }
  for (const JobsOfRun& run : runs) run.submission.save(run.folder);
  return out;
}

}  // namespace kdgat
