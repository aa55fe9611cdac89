// `kdgat submit`: the words of `kdgat run`, and instead of running, a job of SLURM for each step
// that must run. Everything is settled here: options, data, seeds, resources and packs; the jobs
// only carry it out (job_verb.cpp).
#include <algorithm>
#include <iostream>

#include "pipeline/execute/acceptance.h"
#include "pipeline/show/text.h"
#include "pipeline/slurm/site_profile.h"
#include "pipeline/slurm/submit_runs.h"
#include "pipeline/system/program.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/commands/submit_flags.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class SubmitCommand {
 public:
  SubmitCommand(Context& context, const std::vector<std::string>& words)
      : context_(context),
        session_(context, words, flags_.declare()),
        site_(SiteProfile::read(flags_.site, site_folders(), flags_.overrides)),
        submitter_(run_program),
        runs_{session_, typed_line(context, "kdgat submit", words),
              flags_.seeds.empty() ? std::vector<int64_t>{session_.profile.seed} : flags_.seeds} {
    const std::vector<Diagnostic> problems =
        site_.unknown_steps(session_.step_names(), stage_names(context.catalog));
    if (!problems.empty()) throw Error(ExitCode::kUsage, problems);
    status_ = terminal_status(context);
    std::vector<std::string> names = session_.step_names();
    names.insert(names.begin(), "plan");
    status_->announce(names);
    session_.tell_notes(*status_);
  }

  int go() {
    install_signal_flags();
    const bool is_dry = session_.options.dry_run;
    if (!is_dry) submitter_.check(runs_.seeds.size());
    static_cast<void>(session_.targets());  // may refuse
    runs_.data = session_.import(*status_);
    for (const int64_t seed : runs_.seeds) runs_.plans.push_back(plan_for(seed));
    const bool needs_no_work = std::all_of(runs_.plans.begin(), runs_.plans.end(),
                                           [](const Plan& plan) { return plan.needs_no_work(); });
    if (const int code = judge_what_is_kept(needs_no_work); code != 0) return code;
    if (needs_no_work) {
      status_->message("info",
                       "nothing to submit: everything is up to date; --force runs the steps again");
      if (context_.json) {
        print_json(context_, "kdgat.submit", {{"runs", json::array()}, {"steps", json::array()}});
      }
      return 0;
    }
    for (const std::string& warning : runs_.plans.front().warnings)
      status_->message("warning", warning);
    session_.check_libraries(runs_.plans.front());
    runs_.prepare(site_, flags_.memory, *status_);
    const std::vector<JobTask> tasks = runs_.tasks_to_be();
    for (const PreparedStep& step : runs_.steps) runs_.script_of(step, tasks).text();  // may refuse
    if (is_dry) return preview(tasks);
    report(submit_runs(runs_, site_.name(), submitter_));
    return 0;
  }

 private:
  /// Nothing is submitted where a step that is kept is not as required.
  int judge_what_is_kept(bool is_all) {
    std::vector<JudgedRequirement> judged;
    for (const Plan& plan : runs_.plans) {
      const std::vector<JudgedRequirement> of_plan =
          is_all ? judge_plan(session_.requirements, plan,
                              [](const PlannedStep& step) { return step.kept->folder; })
                 : judge_kept(session_.requirements, plan);
      judged.insert(judged.end(), of_plan.begin(), of_plan.end());
    }
    return tell_unmet(judged, *status_);
  }

  Plan plan_for(int64_t seed) {
    session_.profile.seed = seed;
    return session_.plan_for(runs_.data);
  }

  int preview(const std::vector<JobTask>& tasks) {
    json list = json::array();
    for (const PreparedStep& step : runs_.steps) {
      const JobScript script = runs_.script_of(step, tasks);
      std::vector<std::string> needs;
      for (const std::string& need : step.needs) needs.push_back("JOB_" + file_name_of(need));
      const std::vector<std::string> words = sbatch_words(file_of(script), tasks, needs);
      if (context_.json) {
        list.push_back({{"step", step.name},
                        {"script", script.text()},
                        {"sbatch", words},
                        {"resources", record::write<json>(step.resources)}});
      } else {
        context_.out << "==> " << one_line(file_of(script).string()) << "\n"
                     << script.text() << "\n==> JOB_" << file_name_of(step.name) << "=$("
                     << shell_line(words) << ")\n\n";
      }
    }
    if (context_.json) print_json(context_, "kdgat.submit.plan", {{"steps", std::move(list)}});
    return 0;
  }

  void report(const SubmittedRuns& submitted) {
    const auto& [tasks, jobs] = submitted;
    json list = json::array(), runs = json::array();
    for (const PreparedStep& step : runs_.steps) {
      const JobResources& r = step.resources;
      const std::string text = "job " + jobs.at(step.name) + ", " + r.memory_text() + ", " +
                               slurm_time(r.minutes) + ", " + std::to_string(r.cpus) + " cores" +
                               (r.gpus > 0 ? ", " + std::to_string(r.gpus) + " GPU" : "");
      status_->end({step.name, "submitted", text, 0, 0});
      list.push_back({{"step", step.name},
                      {"job", jobs.at(step.name)},
                      {"resources", record::write<json>(r)}});
    }
    for (const JobTask& task : tasks) {
      runs.push_back({{"seed", task.seed}, {"folder", task.run_folder.string()}});
    }
    const std::string first = shell_line({tasks.front().run_folder.string()});
    if (context_.json) {
      print_json(context_, "kdgat.submit", {{"runs", std::move(runs)}, {"steps", std::move(list)}});
    } else {
      for (const JobTask& task : tasks) context_.out << task.run_folder.string() << '\n';
    }
    status_->message(
        "info", std::to_string(runs_.steps.size()) + (runs_.steps.size() == 1 ? " job" : " jobs") +
                    (tasks.size() > 1 ? " of " + std::to_string(tasks.size()) + " tasks" : "") +
                    "   next: kdgat jobs " + first + " · kdgat cancel " + first);
  }

  Context& context_;
  SubmitFlags flags_;
  RunSession session_;
  SiteProfile site_;
  Submitter submitter_;
  PreparedRuns runs_;
  std::unique_ptr<Status> status_;
};

constexpr const char* kSubmitHelp =
    R"(Hand the steps of a run to SLURM: a job for each that must run, in one run folder.

  kdgat submit --preset smoke --dry-run             the batch scripts, and how they are submitted
  kdgat submit profiles/kdgat.yaml --data logs/ --profile v100 --slurm account=PAS1234
  kdgat submit my.yaml --profile my_site.yaml --array seeds=1..5
  kdgat submit my.yaml --slurm time=2h --slurm classifier.mem=64GiB

usage: kdgat submit [what kdgat run takes] [options]

  --profile NAME       site profile: a YAML file, or one of profiles/slurm (default slurm)
  --slurm KEY=VALUE    a key of the site profile; STAGE.KEY=VALUE for one stage or step
  --array seeds=1..5   a job array for each step, a run for each seed; also seeds=1,2,7
  --gpu NAME           the card batches are planned for, as in kdgat plan
  --static             plan from shapes alone; else a few batches are run here to measure
  -n, --dry-run        print the scripts; submit nothing
  --json               results as JSON

The data are imported here, if they are not yet: batches, memory and time are planned from them and
frozen, as are options and seeds. A job reads no profile. With --require, the job whose step has the
figure ends with 11 where it is not as required, and jobs that need that step do not start.

Keys of a site profile:

)";

constexpr const char* kSubmitEnd = R"(
Exit codes: 0 submitted, or nothing to do; 2 usage, or sbatch took a job not (those before it are
cancelled); 5 a stage does not fit; 11 a step that is kept is not as required (--require): nothing
is submitted. See docs/slurm.md.
)";

std::string submit_help(const std::vector<std::string>&, const PluginCatalog&) {
  return kSubmitHelp + site_keys_text() + kSubmitEnd;
}

int submit_verb(Context& context, const std::vector<std::string>& arguments) {
  return SubmitCommand(context, arguments).go();
}

}  // namespace

Verb make_submit_verb() {
  return {"submit", "hand the steps of a run to SLURM, a job each", Needs::kPlugins, submit_verb,
          submit_help};
}

}  // namespace kdgat
