// Runs that are to be handed to SLURM, before they have folders: each step with its device, packs
// and resources. Everything is settled here, so that jobs only carry it out. Writes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/execute/frozen_run.h"
#include "pipeline/execute/run_session.h"
#include "pipeline/memory/memory_options.h"
#include "pipeline/slurm/job_script.h"
#include "pipeline/slurm/site_profile.h"

namespace kdgat {

/// What one step is submitted with, the same for every seed.
struct PreparedStep {
  std::string name, stage;
  SiteOptions site;
  std::string device;
  std::optional<FrozenPacks> packs;
  JobResources resources;
  std::vector<std::string> needs;  ///< of the steps that are submitted
};

/// A run for each seed; their plans have the same steps.
struct PreparedRuns {
  const RunSession& session;
  std::string command;  ///< what was typed
  std::vector<int64_t> seeds;
  std::optional<PreparedData> data{};
  std::vector<Plan> plans{};  ///< one a seed
  std::vector<PreparedStep> steps{};
  std::map<std::string, std::string> devices{};  ///< of all steps

  /// Asks every stage for its plan and settles what the job of each step gets that some seed needs.
  /// `memory`: the card that was named. Throws what a stage refuses, Error(kUsage) for a GPU that
  /// the stages or a plan cannot have, and with a signal's code after one.
  void prepare(const SiteProfile& site, const MemoryOptions& memory, Status& status);
  /// Tasks of the runs there will be, before they have names.
  std::vector<JobTask> tasks_to_be() const;
  JobScript script_of(const PreparedStep& step, const std::vector<JobTask>& tasks) const;
};

/// Where a script stands.
std::filesystem::path file_of(const JobScript& script);

}  // namespace kdgat
