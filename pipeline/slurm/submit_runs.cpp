#include "pipeline/slurm/submit_runs.h"

#include "kdgat/atomic_file.h"
#include "kdgat/exact_json.h"
#include "pipeline/execute/begin_run.h"
#include "pipeline/execute/run_origin.h"
#include "pipeline/system/clock.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

class Submitting {
 public:
  Submitting(const PreparedRuns& runs, const std::string& site, Submitter& submitter)
      : runs_(runs), site_(site), submitter_(submitter) {}

  SubmittedRuns submit() {
    SubmittedRuns out;
    std::vector<Submission> submissions;
    RunStart start{runs_.command, "cpu", 0, std::nullopt,
                   run_origin(runs_.session, runs_.plans.front())};
    start.more.erase("machine");  // its jobs say where they run, and with how many threads
    for (const PreparedStep& step : runs_.steps) {
      if (step.device != "cpu") start.device = step.device;
    }
    for (std::size_t i = 0; i < runs_.plans.size(); ++i) {
      start.seed = runs_.seeds[i];
      out.tasks.push_back(make_run(i, start));
    }
    for (const JobTask& task : out.tasks) {
      Submission& to = submissions.emplace_back();
      to.command = runs_.command;
      to.site = site_;
      to.seed = task.seed;
      if (out.tasks.size() > 1) to.array = out.tasks;
    }
    try {
      for (const PreparedStep& step : runs_.steps) submit_step(step, out, submissions);
    } catch (const Error& e) {
      for (const JobTask& task : out.tasks) {
        Run::join(task.run_folder, "").finish(static_cast<int>(e.code()));
      }
      throw;
    }
    return out;
  }

 private:
  FrozenRun frozen(std::size_t i) const {
    FrozenRun out;
    out.profile = runs_.session.profile.name;
    out.seed = runs_.seeds[i];
    out.threads = runs_.session.profile.threads;
    out.nproc = runs_.session.profile.nproc;
    out.memory_limit = runs_.session.profile.memory_limit;
    out.allocator = runs_.session.profile.allocator;
    for (const Requirement& one : runs_.session.requirements) out.require.push_back(one.text());
    if (runs_.data) {
      out.data = runs_.data;
      out.data->folder = fs::absolute(runs_.data->folder);
    }
    out.plan = runs_.plans[i];
    out.device = runs_.devices;
    for (PlannedStep& step : out.plan.steps) {
      if (step.kept) step.kept->folder = fs::absolute(step.kept->folder);
    }
    for (const PreparedStep& step : runs_.steps) {
      if (step.packs) out.packs[step.name] = *step.packs;
    }
    return out;
  }

  /// A run folder with everything its jobs read.
  JobTask make_run(std::size_t i, const RunStart& start) {
    Run run = Run::create(fs::absolute(runs_.session.dataset_root), runs_.session.profile.name,
                          runs_.plans[i]);
    fs::create_directories(run.folder() / "slurm");
    write_file(frozen_file(run.folder()), exact_dump(frozen(i).to_json()) + "\n");
    run.set_records(runs_.session.targets().public_json());
    run.mark_submitted();
    describe_run(run, runs_.session, runs_.data, start);
    label_run(run, runs_.session);
    return {runs_.seeds[i], run.folder()};
  }

  void submit_step(const PreparedStep& step, SubmittedRuns& out,
                   std::vector<Submission>& submissions) {
    const std::vector<JobTask>& tasks = out.tasks;
    const JobScript script = runs_.script_of(step, tasks);
    std::vector<std::string> needs;
    for (const std::string& need : step.needs) needs.push_back(out.jobs.at(need));
    if (const int stop = pending_signal(); stop != 0) {
      throw Error(static_cast<ExitCode>(stop), "interrupted", submitter_.take_back());
    }
    const double now = unix_now();
    const std::string job = submitter_.submit(script, file_of(script), needs);
    out.jobs[step.name] = job;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      Submission& to = submissions[i];
      to.executable = script.executable;
      to.plugin_folders = script.plugin_folders;
      SubmittedStep& noted = to.steps.emplace_back();
      noted.step = step.name;
      noted.stage = step.stage;
      noted.needs = step.needs;
      noted.site = step.site;
      for (const PlannedStep& planned : runs_.plans[i].steps) {
        if (planned.spec.name == step.name && planned.kept) {
          noted.kept = fs::absolute(planned.kept->folder);
        }
      }
      Attempt attempt;
      attempt.job = job;
      if (script.is_array()) attempt.task = static_cast<int64_t>(i);
      attempt.submitted = iso_now();
      attempt.unix_time = now;
      attempt.script = file_of(script);
      attempt.output = script.output_of(job, attempt.task);
      attempt.resources = step.resources;
      attempt.because = "submitted";
      noted.attempts.push_back(std::move(attempt));
      to.save(tasks[i].run_folder);  // at once: a job that is known to nobody cannot be cancelled
    }
  }

  const PreparedRuns& runs_;
  const std::string& site_;
  Submitter& submitter_;
};

}  // namespace

SubmittedRuns submit_runs(const PreparedRuns& runs, const std::string& site, Submitter& submitter) {
  return Submitting(runs, site, submitter).submit();
}

}  // namespace kdgat
