#include "pipeline/tune/tuned_steps.h"

#include <algorithm>
#include <set>

#include "pipeline/plugin/schema.h"
#include "pipeline/profile/path_options.h"
#include "pipeline/run/run_figures.h"
#include "pipeline/run/run_record.h"

namespace kdgat {

using nlohmann::json;

namespace {

bool has_options(const StepSpec& step, const std::vector<TrialSpec>& trials,
                 const PluginCatalog& catalog) {
  const json& schema = catalog.find(step.stage)->options;
  const auto& values = trials.front().values;
  return std::all_of(values.begin(), values.end(), [&](const auto& value) {
    const std::size_t point = value.first.rfind('.');
    const std::string last = value.first.substr(point + 1);
    const bool is_its = point == std::string::npos || value.first.substr(0, point) == step.name ||
                        value.first.substr(0, point) == step.stage;
    return is_its && !own_option_name(schema, last).empty();
  });
}

}  // namespace

bool has_step_for(const std::vector<TrialSpec>& trials, const Profile& profile,
                  const PluginCatalog& catalog) {
  return std::any_of(profile.steps.begin(), profile.steps.end(), [&](const StepSpec& step) {
    return (profile.only.empty() || step.name == profile.only) &&
           has_options(step, trials, catalog);
  });
}

std::string choose_tuned_step(const std::vector<TrialSpec>& trials, const Profile& profile,
                              const PluginCatalog& catalog) {
  if (!profile.only.empty()) return profile.only;
  std::set<std::string> able;
  std::string names;
  for (const StepSpec& step : profile.steps) {
    if (has_options(step, trials, catalog)) able.insert(step.name);
    names += (names.empty() ? "" : ", ") + step.name;
  }
  if (able.size() == 1) return *able.begin();
  throw Error(ExitCode::kUsage,
              able.empty() ? "no step of the profile has all of the options that are tried"
                           : "several steps have the options that are tried",
              "name the step: kdgat tune STEP ...; the profile has " + names);
}

std::vector<Trial> add_trials(RunSession& session, const ProfileRequest& request,
                              const std::string& tuned, const std::vector<TrialSpec>& specs) {
  Profile& profile = session.profile;
  const PluginCatalog& catalog = session.context.catalog;
  PlanRequest only;
  only.only = tuned;
  const Plan sketch = make_plan(profile, catalog, kUnknownData, {}, only);
  std::vector<StepSpec> steps;
  for (const PlannedStep& step : sketch.steps) {
    if (step.spec.name != tuned) steps.push_back(step.spec);
  }
  std::vector<Trial> trials;
  for (const TrialSpec& spec : specs) {
    ProfileRequest of_spec = request;
    for (const auto& [key, value] : spec.values) {
      const std::string last = key.substr(key.rfind('.') + 1);
      const std::string option = std::string(tuned).append(".").append(last);
      of_spec.overrides.push_back({option, value, "trial " + spec.name});
    }
    Profile of_trial = resolve_profile(of_spec, catalog, profile_sections());
    resolve_path_options(of_trial);
    StepSpec step = *std::find_if(of_trial.steps.begin(), of_trial.steps.end(),
                                  [&](const StepSpec& one) { return one.name == tuned; });
    step.name = spec.name == tuned ? spec.name + "-1" : spec.name;
    step.needs = sketch.steps.back().needs;
    Trial& trial = trials.emplace_back();
    trial.name = step.name;
    trial.values = {spec.values.begin(), spec.values.end()};
    steps.push_back(std::move(step));
  }
  profile.steps = std::move(steps);
  profile.only.clear();
  session.options.plan = PlanRequest();
  return trials;
}

std::size_t find_trial_steps(const Plan& plan, std::vector<Trial>& trials) {
  for (Trial& trial : trials) {
    for (const PlannedStep& step : plan.steps) {
      if (step.spec.name == trial.name) trial.step = &step;
    }
  }
  return plan.steps.size() - trials.size();
}

int carry_out_sweep(const RunSession& session, const Plan& plan,
                    const std::optional<PreparedData>& data, Run& run, Status& status,
                    SweepRecord& record) {
  const std::size_t prerequisites = find_trial_steps(plan, record.trials);
  const RunnerInput input = session.input(plan, data);
  ProcessSettings process = session.process();
  process.lock_fd = run.lock_fd();
  std::map<std::string, Made> made;
  if (prerequisites > 0) {
    Plan before = plan;
    before.steps.resize(prerequisites);
    const int code = run_plan(session.input(before, data), run, status, execute_in_child(process));
    if (code != 0) return code;
    for (const PlannedStep& step : before.steps) {
      const std::filesystem::path folder =
          step.kept ? step.kept->folder : run.step_folder(step.spec.name);
      const auto past = find_past_step(run.id(), folder);
      made[step.spec.name] = {folder, past ? past->facts : json::object()};
    }
  }
  process.threads = record.options.threads;
  const int code = run_sweep(input, run, status, process, made, record);
  run.finish(code, headline_to_record(run.folder(), session.context.catalog));
  return code;
}

}  // namespace kdgat
