#include "pipeline/profile/profile_steps.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "pipeline/profile/profile_keys.h"
#include "pipeline/show/problem.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

bool is_called(const StepSpec& step, const std::string& name) {
  return step.name == name || plain_name(step.name) == plain_name(name);
}

class Chooser {
 public:
  Chooser(const ProfileRequest& request, const PluginCatalog& catalog,
          std::vector<Diagnostic>& problems)
      : request_(request), catalog_(catalog), problems_(problems) {}

  ChosenSteps choose(const std::vector<Layer>& layers, const std::string& profile) {
    for (const Layer& layer : layers) {
      for (const StepDeclaration& declared : layer.steps) declare(declared);
    }
    if (!request_.stage.empty()) choose_stage(request_.stage);
    for (const StepSpec& step : out_.steps) {
      check_name(step);
      if (catalog_.find(step.stage) == nullptr) unknown_stage(step.stage, step.where);
    }
    if (out_.steps.empty() && problems_.empty()) nothing_to_run(profile);
    return std::move(out_);
  }

 private:
  void declare(const StepDeclaration& declared) {
    auto step = std::find_if(out_.steps.begin(), out_.steps.end(), [&](const StepSpec& known) {
      return is_called(known, declared.name);
    });
    if (step == out_.steps.end()) {
      step =
          out_.steps.insert(step, StepSpec{declared.name, declared.name, {}, {}, declared.where});
    }
    if (!declared.stage.empty()) step->stage = declared.stage;
    if (declared.needs) step->needs = *declared.needs;
  }

  /// It names a folder of the run, scripts and jobs.
  void check_name(const StepSpec& step) {
    const std::string& name = step.name;
    constexpr std::size_t kLongest = 100;
    const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
    const bool good = std::all_of(name.begin(), name.end(), [&](unsigned char c) {
      return is_letter(c) || c == ' ' || c == '_' || c == '-';
    });
    const std::string shown = '"' + name.substr(0, kLongest) + '"';
    if (name == "data" || name == "lock" || name == "slurm") {
      problems_.push_back({step.where, shown + " cannot name a step: it has a meaning here",
                           "choose another; its key stage: says what it runs"});
    } else if (!good || name.empty() || !is_letter(name.front()) || !is_letter(name.back())) {
      problems_.push_back({step.where, shown + " cannot name a step",
                           "use letters, digits, blanks, - and _, the first and the last a "
                           "letter or digit"});
    } else if (name.size() > kLongest) {
      problems_.push_back(
          {step.where,
           shown + "... cannot name a step: it has " + std::to_string(name.size()) + " letters",
           "use at most " + std::to_string(kLongest)});
    }
  }

  void choose_stage(const std::string& wanted) {
    std::vector<std::string> of_stage;
    for (const StepSpec& step : out_.steps) {
      if (step.stage == wanted) of_stage.push_back(step.name);
    }
    if (const StepSpec* step = find_step(out_.steps, wanted)) {
      out_.only = step->name;
    } else if (of_stage.size() > 1) {
      problems_.push_back(
          {"", "several steps run the stage " + wanted, "name one: " + joined(of_stage, ", ")});
    } else if (of_stage.size() == 1) {
      out_.only = of_stage.front();
    } else {
      out_.only = wanted;
      out_.steps.push_back({wanted, wanted, {}, {}, "command line"});
    }
  }

  void nothing_to_run(const std::string& profile) {
    const bool nothing = request_.presets.empty() && !request_.config;
    problems_.push_back(
        {"",
         nothing ? "nothing to run: no preset, profile or stage is named"
                 : "nothing to run: " + profile + " has no stages",
         nothing
             ? "try kdgat run --preset smoke; see kdgat run --help"
             : "name one, e.g. kdgat run autoencoder --preset student; see kdgat plugins list"});
  }

  void unknown_stage(const std::string& stage, const std::string& origin) {
    const auto broken = catalog_.problems().find(stage);
    if (broken != catalog_.problems().end()) {
      out_.has_broken_plugin = true;
      problems_.push_back(broken->second);
      return;
    }
    std::vector<std::string> known;
    for (const auto& [name, plugin] : catalog_.all()) known.push_back(name);
    std::string hint = published_stage(stage, catalog_);
    std::error_code ignored;
    if (origin == kCommandLine && std::filesystem::exists(stage, ignored)) {
      hint = "did you mean --data " + stage + "?";
    } else if (!hint.empty()) {
      hint = "the published stage " + stage + " is " + hint + " here";
    } else if (const std::vector<std::string> presets = preset_names(request_.preset_folders);
               std::find(presets.begin(), presets.end(), stage) != presets.end()) {
      hint = stage + " is a preset: kdgat run --preset " + stage;
    } else if (const std::string near = nearest(stage, known); !near.empty()) {
      hint = "did you mean " + near + "?";
    } else if (known.empty()) {
      hint = "no stage plugins were found; see kdgat doctor";
    } else {
      hint = "stages:";
      for (const std::string& name : known) hint += " " + name;
      hint += "; a step of another name says which with stage:";
    }
    problems_.push_back({origin, "unknown stage " + stage, hint});
  }

  const ProfileRequest& request_;
  const PluginCatalog& catalog_;
  std::vector<Diagnostic>& problems_;
  ChosenSteps out_;
};

}  // namespace

const StepSpec* find_step(const std::vector<StepSpec>& steps, const std::string& name) {
  for (const StepSpec& step : steps) {
    if (is_called(step, name)) return &step;
  }
  return nullptr;
}

ChosenSteps choose_steps(const ProfileRequest& request, const PluginCatalog& catalog,
                         const std::vector<Layer>& layers, const std::string& profile,
                         std::vector<Diagnostic>& problems) {
  return Chooser(request, catalog, problems).choose(layers, profile);
}

void name_targets(Layer& layer, const std::vector<StepSpec>& steps, const PluginCatalog& catalog) {
  for (Assignment& a : layer.assignments) {
    if (a.scope == Scope::kStep || a.scope == Scope::kNamed) {
      if (const StepSpec* step = find_step(steps, a.target)) {
        a.scope = Scope::kStep;
        a.target = step->name;
        continue;
      }
    }
    if (a.scope != Scope::kNamed && a.scope != Scope::kStage) continue;
    const std::string as_written = a.target;
    for (const auto& [name, plugin] : catalog.all()) {
      if (plain_name(name) == plain_name(as_written)) {
        a.scope = Scope::kStage;
        a.target = name;
      }
    }
  }
}

}  // namespace kdgat
