#include "pipeline/slurm/prepared_runs.h"

#include <algorithm>

#include "pipeline/run/journal.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/show/text.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Epochs a step may take now for one it took then; 1 where it counts none.
double epochs_ratio(const PlannedStep& step, const PastStep& past) {
  const double most = step.spec.options.values.value("max_epochs", 0.0);
  const double took = epochs_of(read_result(past.folder).get<StageResult>().metrics);
  return most > 0 && took > 0 ? most / took : 1;
}

constexpr const char* kNoGpuStages =
    ": the site profile asks for a GPU, but the stages are built for a CPU LibTorch";

class Preparing {
 public:
  Preparing(PreparedRuns& runs, const SiteProfile& site, const MemoryOptions& memory,
            Status& status)
      : runs_(runs), session_(runs.session), site_(site), memory_(memory), status_(status) {}

  void prepare() {
    const Plan& plan = runs_.plans.front();
    const std::vector<PastStep> past = find_past_steps(session_.dataset_root, plan);
    std::map<std::string, SiteOptions> sites;
    for (const PlannedStep& step : plan.steps) {
      SiteOptions site = site_.of_step(step.spec.name, step.spec.stage);
      runs_.devices[step.spec.name] = device_of(site, step.spec.name);
      sites[step.spec.name] = site;
    }
    warn_of_gpus();
    std::map<std::string, json> answers;
    for (const PlannedStep& step : plan.steps) ask(plan, step, sites.at(step.spec.name), answers);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (!must_run(i)) continue;
      const PlannedStep& step = plan.steps[i];
      const std::string& name = step.spec.name;
      PreparedStep& to = runs_.steps.emplace_back();
      to.name = name;
      to.stage = step.spec.stage;
      to.site = sites.at(name);
      to.device = runs_.devices.at(name);
      const json memory = answers.at(name).get<StageResult>().memory;
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
      for (const PreparedStep& other : runs_.steps) {
        if (std::find(step.needs.begin(), step.needs.end(), other.name) != step.needs.end()) {
          to.needs.push_back(other.name);
        }
      }
    }
  }

 private:
  /// A step is submitted for every seed if one of them needs it: the tasks of arrays correspond.
  bool must_run(std::size_t step) const {
    return std::any_of(runs_.plans.begin(), runs_.plans.end(),
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
    status_.message("warning", joined(without_gpu_stages_, ", ") + kNoGpuStages);
  }

  /// What a card that is not here is planned with; the plan is made on this machine's CPU then.
  void name_card(RunnerInput& input, const SiteOptions& site, const std::string& step) {
    memory_.apply(input.memory);
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
    if (!runs_.data) return 0;
    std::error_code ignored;
    const auto bytes = fs::file_size(runs_.data->folder / "graphs.safetensors", ignored);
    return ignored ? 0 : bytes;
  }

  /// One step at a time: each may be planned for another device. `answers` of the steps before it
  /// are its inputs' facts.
  void ask(const Plan& plan, const PlannedStep& step, const SiteOptions& site,
           std::map<std::string, json>& answers) {
    if (const int stop = pending_signal(); stop != 0) {
      throw Error(static_cast<ExitCode>(stop), "interrupted; nothing was submitted");
    }
    RunnerInput input = session_.input(plan, runs_.data);
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

  PreparedRuns& runs_;
  const RunSession& session_;
  const SiteProfile& site_;
  const MemoryOptions& memory_;
  Status& status_;
  std::vector<std::string> without_gpu_stages_;
};

}  // namespace

void PreparedRuns::prepare(const SiteProfile& site, const MemoryOptions& memory, Status& status) {
  Preparing(*this, site, memory, status).prepare();
}

std::vector<JobTask> PreparedRuns::tasks_to_be() const {
  std::vector<JobTask> tasks;
  for (const int64_t seed : seeds) {
    const std::string name = plans.size() > 1 ? "RUN-" + std::to_string(seed) : "RUN";
    tasks.push_back({seed, fs::absolute(session.dataset_root) / name});
  }
  return tasks;
}

JobScript PreparedRuns::script_of(const PreparedStep& step,
                                  const std::vector<JobTask>& tasks) const {
  JobScript script;
  script.step = step.name;
  script.command = command;
  script.executable = fs::read_symlink("/proc/self/exe");
  for (const fs::path& folder : session.context.plugin_folders) {
    script.plugin_folders.push_back(fs::absolute(folder));
  }
  script.output_folder = tasks.front().run_folder / "slurm";
  script.tasks = tasks;
  script.site = step.site;
  script.resources = step.resources;
  return script;
}

fs::path file_of(const JobScript& script) {
  return script.output_folder / (file_name_of(script.step) + ".sh");
}

}  // namespace kdgat
