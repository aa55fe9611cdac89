// A sweep as steps of a run: the step that is tuned, what it needs, and a step for each trial.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/execute/run_session.h"
#include "pipeline/tune/space.h"
#include "pipeline/tune/sweep.h"

namespace kdgat {

/// Whether a profile has a step, the named one if it names one, with every option of the trials.
bool has_step_for(const std::vector<TrialSpec>& trials, const Profile& profile,
                  const PluginCatalog& catalog);

/// The step that is tuned: the one that was named, or the only one with options that are tried.
/// Throws Error(kUsage) where there is none or are several.
std::string choose_tuned_step(const std::vector<TrialSpec>& trials, const Profile& profile,
                              const PluginCatalog& catalog);

/// Makes the steps of the session's profile what the tuned step needs, and then the trials, which
/// are returned. `request`: what the profile was resolved from.
std::vector<Trial> add_trials(RunSession& session, const ProfileRequest& request,
                              const std::string& tuned, const std::vector<TrialSpec>& specs);

/// Finds the steps of the trials in a plan of that profile. Returns how many steps come before.
std::size_t find_trial_steps(const Plan& plan, std::vector<Trial>& trials);

/// Runs what the trials need, then the trials. Returns the exit code.
int carry_out_sweep(const RunSession& session, const Plan& plan,
                    const std::optional<PreparedData>& data, Run& run, Status& status,
                    SweepRecord& record);

}  // namespace kdgat
