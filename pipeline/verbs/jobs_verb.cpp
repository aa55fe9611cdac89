// `kdgat jobs RUN` and `kdgat cancel RUN`: how the jobs of a submitted run stand, what helps those
// that failed, and their end.
#include <algorithm>
#include <iostream>
#include <set>

#include "pipeline/cli/command_line.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/find_model.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/slurm/job_retry.h"
#include "pipeline/slurm/job_states.h"
#include "pipeline/slurm/submission.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A run of a submission, as it stands on the disk and in SLURM.
struct JobsOfRun {
  fs::path folder;
  Submission submission;
};

/// The run that is named, and with it every run of the same array; `seed` picks one of those.
std::vector<JobsOfRun> runs_of(const std::string& name, const fs::path& root,
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

std::vector<std::string> job_numbers(const std::vector<JobsOfRun>& runs) {
  std::set<std::string> jobs;
  for (const JobsOfRun& run : runs) {
    for (const SubmittedStep& step : run.submission.steps) {
      if (!step.attempts.empty()) jobs.insert(step.attempts.back().job);
    }
  }
  return {jobs.begin(), jobs.end()};
}

std::string phase_word(const Verdict& verdict, const JobReport* report) {
  if (verdict.phase == JobPhase::kDone) return "done";
  if (report != nullptr) return report->state;
  return "gone";
}

/// "host out of memory (…): more memory", or why it waits.
std::string said(const Verdict& verdict) {
  if (verdict.failure == FailureClass::kNone) return verdict.because;
  return name_of(verdict.failure) + " (" + verdict.because + "): " + name_of(verdict.remedy());
}

std::string size_text(uint64_t bytes) { return bytes == 0 ? "" : format_bytes(bytes); }

json job_json(const JobsOfRun& run, const StepState& state) {
  const Attempt& attempt = state.step->attempts.back();
  const JobReport* report = state.report;
  return {{"run", run.folder.string()},
          {"seed", run.submission.seed},
          {"step", state.step->step},
          {"job", attempt.id()},
          {"attempt", state.step->attempts.size()},
          {"state", phase_word(state.verdict, report)},
          {"from", report == nullptr ? "journal" : report->from},
          {"reason", report == nullptr ? "" : report->reason},
          {"elapsed", report == nullptr ? "" : report->elapsed},
          {"restarts", state.restarts()},
          {"memory_asked", attempt.resources.memory},
          {"memory_used", state.memory_used()},
          {"nodes", report == nullptr ? "" : report->nodes},
          {"output", attempt.output.string()},
          {"failure", name_of(state.verdict.failure)},
          {"because", state.verdict.because},
          {"remedy", name_of(state.verdict.remedy())}};
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

int code_of(FailureClass failure) {
  return static_cast<int>(failure == FailureClass::kHostMemory  ? ExitCode::kHostMemory
                          : failure == FailureClass::kGpuMemory ? ExitCode::kGpuMemory
                                                                : ExitCode::kStageFailed);
}

/// A job that was killed could not say so in run.json: it stands there as running.
void settle(const JobsOfRun& of, const std::vector<StepState>& states) {
  std::optional<Run> run;
  for (const StepState& state : states) {
    if (state.verdict.phase != JobPhase::kEnded) continue;
    if (!run) run = Run::join(of.folder, "");
    for (const json& step : run->document().value("steps", json::array())) {
      if (step.value("step", "") != state.step->step || step.value("status", "") != "running") {
        continue;
      }
      const FailureClass failure = state.verdict.failure;
      const bool has_failed = failure != FailureClass::kCancelled &&
                              failure != FailureClass::kTimeLimit &&
                              failure != FailureClass::kPreemption;
      const int code = has_failed ? code_of(failure) : static_cast<int>(ExitCode::kTerminated);
      json more = {{"error", name_of(failure) + ": " + state.verdict.because}};
      if (has_failed) more["exit_code"] = code;
      run->record_step(state.step->step, has_failed ? "failed" : "interrupted", more);
      run->finish(code);
      break;
    }
  }
}

/// The same where the run can be written to; another's run is looked at all the same.
void settle_if_possible(const JobsOfRun& of, const std::vector<StepState>& states) {
  try {
    settle(of, states);
  } catch (const Error&) {
    return;
  }
}

void show_jobs(Context& context, std::vector<JobsOfRun>& runs, const JobReports& reports) {
  Table table;
  json list = json::array();
  const bool has_seeds = runs.size() > 1;
  std::vector<std::string> head = {"step",     "job",   "state", "elapsed",
                                   "restarts", "asked", "used",  ""};
  if (has_seeds) head.insert(head.begin(), "seed");
  table.add(head);
  for (JobsOfRun& run : runs) {
    const std::vector<StepState> states = states_of(run, reports);
    settle_if_possible(run, states);
    for (const StepState& state : states) {
      const Attempt& attempt = state.step->attempts.back();
      std::vector<std::string> row = {state.step->step,
                                      attempt.id(),
                                      phase_word(state.verdict, state.report),
                                      state.report == nullptr ? "" : state.report->elapsed,
                                      std::to_string(state.restarts()),
                                      attempt.resources.memory_text(),
                                      size_text(state.memory_used()),
                                      said(state.verdict)};
      if (has_seeds) row.insert(row.begin(), std::to_string(run.submission.seed));
      table.add(std::move(row));
      list.push_back(job_json(run, state));
    }
  }
  if (context.json) {
    print_json(context, "kdgat.jobs", {{"jobs", std::move(list)}});
  } else {
    context.out << table.text();
  }
}

struct Named {
  std::string run, root = "runs";
  std::optional<int64_t> seed;
};

void declare(CommandLine& line, Named& named) {
  line.word(named.run, Offer::kRuns);
  line.value("--root", named.root, Offer::kFiles);
  line.value("--seed", [&named, &line](const std::string& text) {
    constexpr std::size_t kDigits = 9;
    if (text.empty() || text.size() > kDigits ||
        text.find_first_not_of("0123456789") != std::string::npos) {
      return line.problem("--seed: \"" + text + "\" is not a seed");
    }
    named.seed = std::stoll(text);
  });
}

void require_run(const Named& named, const std::string& verb) {
  if (!named.run.empty()) return;
  throw Error(ExitCode::kUsage,
              "kdgat " + verb + " needs a run: its id, its beginning, or its folder",
              "see kdgat " + verb + " --help");
}

constexpr const char* kJobsHelp =
    R"(Show how the jobs of a submitted run stand: a line for each step, and each task of an array.

  kdgat jobs 01JD                                   a run by its id, or its beginning
  kdgat jobs runs/my/01JD... --json
  kdgat jobs 01JD --retry                           submit failed steps again, with what helps

usage: kdgat jobs RUN [--retry] [--seed N] [--root DIR] [--json]

  --retry              submit again what failed or was cancelled, and what waits for it: more memory
                       after a lack of it, a lower ceiling of GPU memory, without a broken node;
                       a failure of the step itself is not repeated
  --seed N             only this run of an array
  --root DIR           folder that holds all runs (default runs)
  --json               results as JSON

States come from sacct, else scontrol, else squeue, else the run's own journal. Ends with 1 if
--retry leaves a failed step as it is.
)";

int jobs_verb(Context& context, const std::vector<std::string>& arguments) {
  Named named;
  bool retry = false;
  CommandLine line(context, "kdgat jobs");
  declare(line, named);
  line.flag("--retry", retry);
  line.parse(arguments);
  require_run(named, "jobs");
  std::vector<JobsOfRun> runs = runs_of(named.run, named.root, named.seed);
  JobReports reports = ask_slurm(job_numbers(runs), run_program);
  if (!retry) {
    show_jobs(context, runs, reports);
    return 0;
  }
  bool is_refused = false;
  json list = json::array();
  for (JobsOfRun& run : runs) {
    const OwnedFd lock = lock_submission(run.folder);
    run.submission = Submission::load(run.folder);  // another kdgat may have changed it meanwhile
    std::vector<StepState> states = states_of(run, reports);
    for (const RetryNote& note : retry_steps(run.folder, run.submission, states, run_program)) {
      if (note.job.empty()) {
        is_refused = true;
        context.failures->push_back({note.step, {{"", "not submitted again: " + note.text, ""}}});
      }
      list.push_back({{"run", run.folder.string()},
                      {"step", note.step},
                      {"job", note.job},
                      {"because", note.text}});
      if (!context.json) {
        context.out << note.step << "  "
                    << (note.job.empty() ? "not submitted again" : "job " + note.job) << "  "
                    << one_line(note.text) << '\n';
      }
    }
  }
  if (context.json) print_json(context, "kdgat.jobs.retry", {{"submitted", list}});
  if (list.empty()) context.err << "nothing to submit again: no step has failed\n";
  return is_refused ? static_cast<int>(ExitCode::kStageFailed) : 0;
}

constexpr const char* kCancelHelp =
    R"(End the jobs of a submitted run that wait or run, and say which.

  kdgat cancel 01JD
  kdgat cancel 01JD --seed 3                        only this run of an array

usage: kdgat cancel RUN [--seed N] [--root DIR] [--json]

What was done stays; kdgat jobs RUN --retry continues the rest.
)";

int cancel_verb(Context& context, const std::vector<std::string>& arguments) {
  Named named;
  CommandLine line(context, "kdgat cancel");
  declare(line, named);
  line.parse(arguments);
  require_run(named, "cancel");
  std::vector<JobsOfRun> runs = runs_of(named.run, named.root, named.seed);
  const JobReports reports = ask_slurm(job_numbers(runs), run_program);
  std::vector<std::string> words = {"scancel"};
  json list = json::array();
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
      list.push_back({{"run", run.folder.string()},
                      {"step", state.step->step},
                      {"job", attempt.id()},
                      {"state", state.report == nullptr ? "" : state.report->state}});
    }
  }
  if (!list.empty()) {
    const auto answer = run_program(words);
    if (!answer || answer->exit_code != 0) {
      throw Error(ExitCode::kStageFailed,
                  "nothing was cancelled: " +
                      (answer ? "scancel says: " + answer->err : "there is no scancel here"),
                  "cancel them where SLURM is: " + shell_line(words));
    }
    for (const JobsOfRun& run : runs) run.submission.save(run.folder);
  }
  if (context.json) {
    print_json(context, "kdgat.cancel", {{"cancelled", list}});
    return 0;
  }
  for (const json& item : list) {
    context.out << "cancelled job " << item.at("job").get<std::string>() << "  "
                << item.at("step").get<std::string>() << "  was "
                << item.at("state").get<std::string>() << '\n';
  }
  if (list.empty()) context.out << "nothing to cancel: no job waits or runs\n";
  return 0;
}

}  // namespace

Verb make_jobs_verb() {
  return {"jobs", "show the state of the jobs of a submitted run; submit failed ones again",
          Needs::kNothing, jobs_verb, help_text(kJobsHelp)};
}

Verb make_cancel_verb() {
  return {"cancel", "end the jobs of a submitted run", Needs::kNothing, cancel_verb,
          help_text(kCancelHelp)};
}

}  // namespace kdgat
