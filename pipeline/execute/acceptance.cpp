#include "pipeline/execute/acceptance.h"

#include <algorithm>

#include "pipeline/run/artifacts.h"
#include "pipeline/run/run_figures.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> out;
  for (const PlannedStep& step : plan.steps) out.push_back(step.spec.name);
  return out;
}

void append(std::vector<Figure>& out, const std::vector<Figure>& more) {
  out.insert(out.end(), more.begin(), more.end());
}

std::vector<JudgedRequirement> only_answered(std::vector<JudgedRequirement> judged) {
  std::erase_if(judged, [](const JudgedRequirement& one) { return !one.value; });
  return judged;
}

}  // namespace

std::vector<JudgedRequirement> judge_plan(
    const std::vector<Requirement>& requirements, const Plan& plan,
    const std::function<fs::path(const PlannedStep&)>& folder_of) {
  if (requirements.empty()) return {};
  std::vector<Figure> figures;
  for (const PlannedStep& step : plan.steps) {
    append(figures, figures_of_step(step.spec.name, folder_of(step)));
  }
  return judge_requirements(requirements, names_of(plan), figures);
}

std::vector<JudgedRequirement> judge_kept(const std::vector<Requirement>& requirements,
                                          const Plan& plan) {
  std::vector<Figure> figures;
  for (const PlannedStep& step : plan.steps) {
    if (step.kept) append(figures, figures_of_step(step.spec.name, step.kept->folder));
  }
  return only_answered(judge_requirements(requirements, names_of(plan), figures));
}

std::vector<JudgedRequirement> judge_job(const FrozenRun& frozen, const fs::path& run_folder,
                                         const std::string& step) {
  std::vector<Requirement> requirements;
  std::vector<Diagnostic> problems;  // none: they were read before they were frozen
  for (const std::string& text : frozen.require) {
    if (auto one = read_requirement(text, "", problems)) requirements.push_back(*one);
  }
  if (requirements.empty()) return {};
  bool is_complete = true;
  std::vector<Figure> all;
  for (const PlannedStep& planned : frozen.plan.steps) {
    const std::string& name = planned.spec.name;
    const fs::path own = run_folder / name;
    const bool is_done = find_past_step(run_folder.filename().string(), own).has_value();
    is_complete = is_complete && (is_done || planned.kept);
    if (is_done) {
      append(all, figures_of_step(name, own));
    } else if (planned.kept) {
      append(all, figures_of_step(name, planned.kept->folder));
    }
  }
  const std::vector<std::string> names = names_of(frozen.plan);
  std::vector<JudgedRequirement> out = only_answered(
      judge_requirements(requirements, names, figures_of_step(step, run_folder / step)));
  if (!is_complete) return out;
  for (JudgedRequirement& one : judge_requirements(requirements, names, all)) {
    if (!one.value) out.push_back(std::move(one));
  }
  return out;
}

int tell_unmet(const std::vector<JudgedRequirement>& judged, Status& status) {
  int code = 0;
  for (const JudgedRequirement& one : judged) {
    if (one.is_met) continue;
    status.message("error", one.problem);
    code = static_cast<int>(ExitCode::kUnmet);
  }
  return code;
}

}  // namespace kdgat
