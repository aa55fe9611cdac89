// Which steps a profile has, and which of them a key names. Private to pipeline/profile_*.cpp.
#pragma once

#include <string>
#include <vector>

#include "pipeline/profile/profile_layers.h"

namespace kdgat {

struct ChosenSteps {
  std::vector<StepSpec> steps;  ///< without options
  std::string only;             ///< the step that `run STAGE` names; "" = all
  bool has_broken_plugin = false;
};

/// The steps that `layers` declare, and what `run STAGE` chooses of them: the step of that name,
/// the only step of that stage, or a new step. `profile`: its name, for messages.
ChosenSteps choose_steps(const ProfileRequest& request, const PluginCatalog& catalog,
                         const std::vector<Layer>& layers, const std::string& profile,
                         std::vector<Diagnostic>& problems);

/// The step of this name, however its blanks and dashes are written; nullptr if there is none.
const StepSpec* find_step(const std::vector<StepSpec>& steps, const std::string& name);

/// What the command line calls X.key: the step X, else the stage X.
void name_targets(Layer& layer, const std::vector<StepSpec>& steps, const PluginCatalog& catalog);

}  // namespace kdgat
