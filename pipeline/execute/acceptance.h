// What becomes of required figures (run/requirements.h) once steps have run: judged by what stands
// in the steps' folders, told, and turned into the exit code.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/execute/frozen_run.h"
#include "pipeline/run/requirements.h"
#include "pipeline/show/status.h"

namespace kdgat {

/// Of a run whose steps are all done. `folder_of` says where a step's result stands.
std::vector<JudgedRequirement> judge_plan(
    const std::vector<Requirement>& requirements, const Plan& plan,
    const std::function<std::filesystem::path(const PlannedStep&)>& folder_of);

/// Those that the steps which are kept answer already.
std::vector<JudgedRequirement> judge_kept(const std::vector<Requirement>& requirements,
                                          const Plan& plan);

/// Of a submitted run, after one of its steps: those that this step answers, and once every step is
/// done also those that none did.
std::vector<JudgedRequirement> judge_job(const FrozenRun& frozen,
                                         const std::filesystem::path& run_folder,
                                         const std::string& step);

/// Tells each that is not met. Returns kUnmet if there is one, else 0.
int tell_unmet(const std::vector<JudgedRequirement>& judged, Status& status);

}  // namespace kdgat
