// `kdgat jobs RUN` and `kdgat cancel RUN`: how the jobs of a submitted run stand, what helps those
// that failed, and their end.
#include <iostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/slurm/jobs_of_run.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

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
    settle(run, states);
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
  std::vector<JobsOfRun> runs = jobs_of(named.run, named.root, named.seed);
  JobReports reports = ask_slurm(runs, run_program);
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
  std::vector<JobsOfRun> runs = jobs_of(named.run, named.root, named.seed);
  const JobReports reports = ask_slurm(runs, run_program);
  const std::vector<CancelledJob> cancelled = cancel_jobs(runs, reports, run_program);
  if (context.json) {
    json list = json::array();
    for (const CancelledJob& one : cancelled) {
      list.push_back(
          {{"run", one.run.string()}, {"step", one.step}, {"job", one.job}, {"state", one.state}});
    }
    print_json(context, "kdgat.cancel", {{"cancelled", std::move(list)}});
    return 0;
  }
  for (const CancelledJob& one : cancelled) {
    context.out << "cancelled job " << one.job << "  " << one.step << "  was " << one.state << '\n';
  }
  if (cancelled.empty()) context.out << "nothing to cancel: no job waits or runs\n";
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
