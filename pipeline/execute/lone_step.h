// Asks one stage for its plan without data, without a run and without the steps before it.
#pragma once

#include <nlohmann/json.hpp>

#include "pipeline/execute/runner.h"
#include "pipeline/profile/profile.h"

namespace kdgat {

/// The step that a profile is asked for (Profile::only), with nothing but graphs before it.
PlannedStep lone_step(const Profile& profile, const PluginCatalog& catalog);

/// What its stage answers for data of which only `facts` are known; nothing is run to measure.
/// Throws Error with what the stage refuses, Error(kUsage) if it plans no memory.
nlohmann::json plan_alone(const PlannedStep& step, const Profile& profile,
                          const PluginCatalog& catalog, const nlohmann::json& facts,
                          MemoryRequest memory);

}  // namespace kdgat
