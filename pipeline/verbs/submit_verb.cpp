// `kdgat submit`: the words of `kdgat run`, and instead of running, a job of SLURM for each step
// that must run. Everything is settled here: options, data, seeds, resources and packs; the jobs
// only carry it out (job_verb.cpp).
#include <algorithm>
#include <iostream>

#include "kdgat/atomic_file.h"
#include "kdgat/exact_json.h"
#include "pipeline/execute/acceptance.h"
#include "pipeline/execute/begin_run.h"
#include "pipeline/execute/frozen_run.h"
#include "pipeline/execute/run_origin.h"
#include "pipeline/run/journal.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/show/text.h"
#include "pipeline/slurm/site_profile.h"
#include "pipeline/slurm/submission.h"
#include "pipeline/system/clock.h"
#include "pipeline/system/program.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/commands/submit_flags.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What one step is submitted with, the same for every seed.
struct PreparedStep {
  std::string name, stage;
  SiteOptions site;
  std::string device;
  std::optional<FrozenPacks> packs;
  JobResources resources;
  std::vector<std::string> needs;  ///< of the steps that are submitted
};

/// Epochs a step may take now for one it took then; 1 where it counts none.
double epochs_ratio(const PlannedStep& step, const PastStep& past) {
  const double most = step.spec.options.values.value("max_epochs", 0.0);
  const double took = epochs_of(read_result(past.folder).value("metrics", json::object()));
  return most > 0 && took > 0 ? most / took : 1;
}

constexpr const char* kNoGpuStages =
    ": the site profile asks for a GPU, but the stages are built for a CPU LibTorch";

class SubmitCommand {
 public:
  SubmitCommand(Context& context, const std::vector<std::string>& words)
      : context_(context),
        command_(typed_line(context, "kdgat submit", words)),
        session_(context, words, flags_.declare()),
        site_(SiteProfile::read(flags_.site, site_folders(), flags_.overrides)),
        submitter_(run_program) {
    std::vector<std::string> stages;
    for (const auto& [name, plugin] : context.catalog.all()) stages.push_back(name);
    const std::vector<Diagnostic> problems = site_.unknown_steps(session_.step_names(), stages);
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
    if (!is_dry) submitter_.check(seeds().size());
    static_cast<void>(session_.targets());  // may refuse
    data_ = session_.import(*status_);
    for (const int64_t seed : seeds()) plans_.push_back(plan_for(seed));
    const bool needs_no_work = std::all_of(plans_.begin(), plans_.end(),
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
    for (const std::string& warning : plans_.front().warnings) status_->message("warning", warning);
    session_.check_libraries(plans_.front());
    prepare();
    for (const PreparedStep& step : steps_) script_of(step, tasks_to_be()).text();  // may refuse
    return is_dry ? preview() : submit();
  }

 private:
  std::vector<int64_t> seeds() const {
    return flags_.seeds.empty() ? std::vector<int64_t>{session_.profile.seed} : flags_.seeds;
  }

  /// Nothing is submitted where a step that is kept is not as required.
  int judge_what_is_kept(bool is_all) {
    std::vector<JudgedRequirement> judged;
    for (const Plan& plan : plans_) {
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
    return session_.plan_for(data_);
  }

  /// A step is submitted for every seed if one of them needs it: the tasks of arrays correspond.
  bool must_run(std::size_t step) const {
    return std::any_of(plans_.begin(), plans_.end(),
                       [&](const Plan& plan) { return plan.steps[step].action == Action::kRun; });
  }

  std::string device_of(SiteOptions& site, const std::string& step) {
    const std::string& wanted = session_.profile.device;
    if (wanted == "cpu") site.gpus = 0;
    if (wanted.rfind("cuda", 0) == 0 && site.gpus == 0) site.gpus = 1;
    if (site.gpus == 0) return "cpu";
    if (session_.device != "cpu") return "cuda";
    if (!session_.options.dry_run) {
      throw Error(ExitCode::kUsage, step + kNoGpuStages,
                  "build with a CUDA LibTorch, or --slurm gpus=0");
    }
    without_gpu_stages_.push_back(step);
    return "cuda";
  }

  /// In a preview the script is shown all the same: once for all steps that it concerns.
  void warn_of_gpus() {
    if (without_gpu_stages_.empty()) return;
    std::string steps;
    for (const std::string& step : without_gpu_stages_) steps += (steps.empty() ? "" : ", ") + step;
    status_->message("warning", steps + kNoGpuStages);
  }

  /// What a card that is not here is planned with; the plan is made on this machine's CPU then.
  void name_card(RunnerInput& input, const SiteOptions& site, const std::string& step) {
    flags_.memory.apply(input.memory);
    input.device = "cpu";
    if (site.gpus == 0) {
      input.memory.device.clear();
      input.memory.total = input.memory.context = 0;
      const uint64_t memory = site.mem.empty() ? 0 : parse_job_memory(site.mem);
      if (memory > 0 && input.memory.limit == 0) {
        // Planned for the memory the job will have, not for what is free here. How much all of a
        // node is nobody knows here.
        input.memory.device = kJobDevice;
        input.memory.total = static_cast<int64_t>(stage_limit(memory, data_bytes()));
      }
      return;
    }
    if (!input.memory.device.empty()) return;
    if (!site.card.empty()) {
      const Card card = find_card(site.card);
      input.memory.device = card.name;
      input.memory.total = static_cast<int64_t>(card.total);
      input.memory.context = static_cast<int64_t>(card.context);
    } else if (session_.machine.has_nvidia_driver()) {
      input.device = "cuda";
    } else {
      throw Error(ExitCode::kUsage,
                  step + ": batches cannot be planned: no card is named, and this machine has none",
                  "card: v100-16 in the site profile, --slurm card=v100-16, or --gpu v100-16");
    }
  }

  uint64_t data_bytes() const {
    if (!data_) return 0;
    std::error_code ignored;
    const auto bytes = fs::file_size(data_->folder / "graphs.safetensors", ignored);
    return ignored ? 0 : bytes;
  }

  /// Asks every stage for its plan and settles what each job gets.
  void prepare() {
    const Plan& plan = plans_.front();
    const std::vector<PastStep> past = find_past_steps(session_.dataset_root, plan);
    std::map<std::string, SiteOptions> sites;
    for (const PlannedStep& step : plan.steps) {
      SiteOptions site = site_.of_step(step.spec.name, step.spec.stage);
      devices_[step.spec.name] = device_of(site, step.spec.name);
      sites[step.spec.name] = site;
    }
    warn_of_gpus();
    std::map<std::string, json> answers;
    for (const PlannedStep& step : plan.steps) ask(plan, step, sites.at(step.spec.name), answers);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (!must_run(i)) continue;
      const PlannedStep& step = plan.steps[i];
      const std::string& name = step.spec.name;
      PreparedStep& to = steps_.emplace_back();
      to.name = name;
      to.stage = step.spec.stage;
      to.site = sites.at(name);
      to.device = devices_.at(name);
      const json memory = answers.at(name).value("memory", json());
      to.packs = packs_of(memory);
      StepNeeds needs{memory, data_bytes(), 0, 1, ""};
      const auto before = std::find_if(past.begin(), past.end(), [&](const PastStep& p) {
        return p.step == name && p.stage == step.spec.stage;
      });
      if (before != past.end()) {
        needs.seconds = read_journal(before->folder).seconds();
        needs.epochs_ratio = epochs_ratio(step, *before);
        needs.run = short_run(before->run);
      }
      to.resources = resources_for(to.site, needs);
      for (const PreparedStep& other : steps_) {
        if (std::find(step.needs.begin(), step.needs.end(), other.name) != step.needs.end()) {
          to.needs.push_back(other.name);
        }
      }
    }
  }

  /// One step at a time: each may be planned for another device. `answers` of the steps before it
  /// are its inputs' facts.
  void ask(const Plan& plan, const PlannedStep& step, const SiteOptions& site,
           std::map<std::string, json>& answers) {
    if (const int stop = pending_signal(); stop != 0) {
      throw Error(static_cast<ExitCode>(stop), "interrupted; nothing was submitted");
    }
    RunnerInput input = session_.input(plan, data_);
    name_card(input, site, step.spec.name);
    std::map<std::string, Made> made;
    for (const auto& [name, answer] : answers) made[name] = {"", answer};
    for (const PlannedStep& other : plan.steps) {
      if (other.kept) made[other.spec.name] = {other.kept->folder, other.kept->facts};
    }
    const StageCall call{"plan", *input.catalog.find(step.spec.stage),
                         make_request(input, step, made, ""), step.spec.allocator};
    const StageAnswer answer = plan_in_child(call, session_.process());
    if (answer.code != 0) {
      throw Error(static_cast<ExitCode>(answer.code), answer.diagnostics);
    }
    answers[step.spec.name] = answer.result;
  }

  JobScript script_of(const PreparedStep& step, const std::vector<JobTask>& tasks) const {
    JobScript script;
    script.step = step.name;
    script.command = command_;
    script.executable = fs::read_symlink("/proc/self/exe");
    for (const fs::path& folder : context_.plugin_folders) {
      script.plugin_folders.push_back(fs::absolute(folder));
    }
    script.output_folder = tasks.front().run_folder / "slurm";
    script.tasks = tasks;
    script.site = step.site;
    script.resources = step.resources;
    return script;
  }

  fs::path file_of(const JobScript& script) const {
    return script.output_folder / (file_name_of(script.step) + ".sh");
  }

  /// The runs there will be, before they have names.
  std::vector<JobTask> tasks_to_be() const {
    std::vector<JobTask> tasks;
    for (const int64_t seed : seeds()) {
      const std::string name = plans_.size() > 1 ? "RUN-" + std::to_string(seed) : "RUN";
      tasks.push_back({seed, fs::absolute(session_.dataset_root) / name});
    }
    return tasks;
  }

  int preview() {
    const std::vector<JobTask> tasks = tasks_to_be();
    json list = json::array();
    for (const PreparedStep& step : steps_) {
      const JobScript script = script_of(step, tasks);
      std::vector<std::string> needs;
      for (const std::string& need : step.needs) needs.push_back("JOB_" + file_name_of(need));
      const std::vector<std::string> words = sbatch_words(file_of(script), tasks, needs);
      if (context_.json) {
        list.push_back({{"step", step.name},
                        {"script", script.text()},
                        {"sbatch", words},
                        {"resources", step.resources.to_json()}});
      } else {
        context_.out << "==> " << one_line(file_of(script).string()) << "\n"
                     << script.text() << "\n==> JOB_" << file_name_of(step.name) << "=$("
                     << shell_line(words) << ")\n\n";
      }
    }
    if (context_.json) print_json(context_, "kdgat.submit.plan", {{"steps", std::move(list)}});
    return 0;
  }

  FrozenRun frozen(std::size_t i) const {
    FrozenRun out;
    out.profile = session_.profile.name;
    out.seed = seeds()[i];
    out.threads = session_.profile.threads;
    out.nproc = session_.profile.nproc;
    out.memory_limit = session_.profile.memory_limit;
    out.allocator = session_.profile.allocator;
    for (const Requirement& one : session_.requirements) out.require.push_back(one.text());
    if (data_) {
      out.data = data_;
      out.data->folder = fs::absolute(data_->folder);
    }
    out.plan = plans_[i];
    out.device = devices_;
    for (PlannedStep& step : out.plan.steps) {
      if (step.kept) step.kept->folder = fs::absolute(step.kept->folder);
    }
    for (const PreparedStep& step : steps_) {
      if (step.packs) out.packs[step.name] = *step.packs;
    }
    return out;
  }

  /// A run folder with everything its jobs read.
  JobTask make_run(std::size_t i, const RunStart& start) {
    Run run = Run::create(fs::absolute(session_.dataset_root), session_.profile.name, plans_[i]);
    fs::create_directories(run.folder() / "slurm");
    write_file(frozen_file(run.folder()), exact_dump(frozen(i).to_json()) + "\n");
    run.set_records(session_.targets().public_json());
    run.mark_submitted();
    describe_run(run, session_, data_, start);
    label_run(run, session_);
    return {seeds()[i], run.folder()};
  }

  int submit() {
    std::vector<JobTask> tasks;
    std::vector<Submission> submissions;
    RunStart start{command_, "cpu", 0, std::nullopt, run_origin(session_, plans_.front())};
    start.more.erase("machine");  // its jobs say where they run, and with how many threads
    for (const PreparedStep& step : steps_) {
      if (step.device != "cpu") start.device = step.device;
    }
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      start.seed = seeds()[i];
      tasks.push_back(make_run(i, start));
    }
    for (const JobTask& task : tasks) {
      Submission& to = submissions.emplace_back();
      to.command = command_;
      to.site = site_.name();
      to.seed = task.seed;
      if (tasks.size() > 1) to.array = tasks;
    }
    std::map<std::string, std::string> jobs;
    try {
      for (const PreparedStep& step : steps_) submit_step(step, tasks, submissions, jobs);
    } catch (const Error& e) {
      for (const JobTask& task : tasks) {
        Run::join(task.run_folder, "").finish(static_cast<int>(e.code()));
      }
      throw;
    }
    report(tasks, jobs);
    return 0;
  }

  void submit_step(const PreparedStep& step, const std::vector<JobTask>& tasks,
                   std::vector<Submission>& submissions, std::map<std::string, std::string>& jobs) {
    const JobScript script = script_of(step, tasks);
    std::vector<std::string> needs;
    for (const std::string& need : step.needs) needs.push_back(jobs.at(need));
    if (const int stop = pending_signal(); stop != 0) {
      throw Error(static_cast<ExitCode>(stop), "interrupted", submitter_.take_back());
    }
    const double now = unix_now();
    const std::string job = submitter_.submit(script, file_of(script), needs);
    jobs[step.name] = job;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      Submission& to = submissions[i];
      to.executable = script.executable;
      to.plugin_folders = script.plugin_folders;
      SubmittedStep& noted = to.steps.emplace_back();
      noted.step = step.name;
      noted.stage = step.stage;
      noted.needs = step.needs;
      noted.site = step.site;
      for (const PlannedStep& planned : plans_[i].steps) {
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

  void report(const std::vector<JobTask>& tasks, const std::map<std::string, std::string>& jobs) {
    json list = json::array(), runs = json::array();
    for (const PreparedStep& step : steps_) {
      const JobResources& r = step.resources;
      const std::string text = "job " + jobs.at(step.name) + ", " + r.memory_text() + ", " +
                               slurm_time(r.minutes) + ", " + std::to_string(r.cpus) + " cores" +
                               (r.gpus > 0 ? ", " + std::to_string(r.gpus) + " GPU" : "");
      status_->end({step.name, "submitted", text, 0, 0});
      list.push_back(
          {{"step", step.name}, {"job", jobs.at(step.name)}, {"resources", r.to_json()}});
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
        "info", std::to_string(steps_.size()) + (steps_.size() == 1 ? " job" : " jobs") +
                    (tasks.size() > 1 ? " of " + std::to_string(tasks.size()) + " tasks" : "") +
                    "   next: kdgat jobs " + first + " · kdgat cancel " + first);
  }

  Context& context_;
  std::string command_;
  SubmitFlags flags_;
  RunSession session_;
  SiteProfile site_;
  Submitter submitter_;
  std::unique_ptr<Status> status_;
  std::vector<std::string> without_gpu_stages_;
  std::optional<PreparedData> data_;
  std::vector<Plan> plans_;  ///< one a seed
  std::map<std::string, std::string> devices_;
  std::vector<PreparedStep> steps_;
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
