// Carries out a plan: one step after another, what needs a failed step is skipped, the rest goes
// on. Owns cancellation and what happens after a failure; does not decide what runs (plan.h) and
// does not know how a stage is started (Execute).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "kdgat/stage.h"
#include "pipeline/data/data.h"
#include "pipeline/execute/stage_process.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/plan.h"
#include "pipeline/show/status.h"
#include "pipeline/system/log.h"

namespace kdgat {

/// What a step and its stage said of the memory it needs and needed, for memory.json:
/// {"planned", "actual", "timeline"}. `announced`: the plan as an event, for a stage that failed.
nlohmann::json memory_record(const StepOutcome& outcome, const nlohmann::json& announced);

struct RunnerInput {
  const Plan& plan;
  const PluginCatalog& catalog;
  std::string device;  ///< "cpu" or "cuda"
  int threads = 1;
  int64_t seed = 42;
  std::optional<PreparedData> data;  ///< if a step reads it; one without a folder has facts alone
  MemoryRequest memory{};
  std::map<std::string, FrozenPacks> packs{};  ///< by step: settled when the run was submitted
};

/// The request of a step (see stage_abi.h). `made`: folder and facts of the steps before it; a
/// producer that is absent there has a null path.
struct Made {
  std::filesystem::path folder;
  nlohmann::json facts = nlohmann::json::object();
};
nlohmann::json make_request(const RunnerInput& input, const PlannedStep& step,
                            const std::map<std::string, Made>& made,
                            const std::filesystem::path& run_dir);

/// Runs the plan in this run's folder and records every step. Returns the exit code: 0 only if
/// every step is done or kept; else that of the signal, or of the first failure.
int run_plan(const RunnerInput& input, Run& run, Status& status, const Execute& execute);

}  // namespace kdgat
