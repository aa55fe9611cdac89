// A run as it was settled when it was submitted: steps, options, seed, data and packs, in
// <run>/slurm/frozen.json. A job reads this and no profile, so what has changed since in profiles,
// presets or the environment changes nothing.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kdgat/stage.h"
#include "pipeline/data/data.h"
#include "pipeline/run/plan.h"

namespace kdgat {

struct FrozenRun {
  std::string profile;
  int64_t seed = 42;
  int threads = 0;            ///< 0 = as many as the job has
  int nproc = 1;              ///< processes that train a stage together
  uint64_t memory_limit = 0;  ///< the profile's, in bytes; 0 = none
  std::string allocator;
  std::vector<std::string> require;  ///< what figures must come to (run/requirements.h)
  std::optional<PreparedData> data;
  Plan plan;                                  ///< kept steps with the folder they stand in
  std::map<std::string, std::string> device;  ///< "cpu" or "cuda", by step
  std::map<std::string, FrozenPacks> packs;   ///< by step, of those that plan batches

  nlohmann::json to_json() const;
  /// Throws Error(kData) naming `where` for anything but what to_json() wrote.
  static FrozenRun from_json(const nlohmann::json& json, const std::string& where);
};

/// The packs of a plan of memory (see MemoryPlan::json() of stages/engine/memory/memory_plan.h);
/// nullopt if it plans none.
std::optional<FrozenPacks> packs_of(const nlohmann::json& memory_plan);

std::filesystem::path frozen_file(const std::filesystem::path& run_folder);
/// Throws Error(kData) if the run was not submitted.
FrozenRun load_frozen_run(const std::filesystem::path& run_folder);

/// What a job carries out: the step alone, with what it needs kept from this run, or from where it
/// stood at submission. Throws Error(kUsage) for an unknown step, Error(kData) if a need is not
/// done.
Plan plan_of_step(const FrozenRun& frozen, const std::filesystem::path& run_folder,
                  const std::string& step);

}  // namespace kdgat
