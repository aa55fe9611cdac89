// What runs, in what order, and why. Pure: no disk, no clock, no plugin; everything it must know of
// the world is handed in, so that every decision is a unit test.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plugin_catalog.h"
#include "pipeline/profile.h"

namespace kdgat {

/// A finished step found in an earlier run of the same data set.
struct PastStep {
  std::string run;                    ///< run id
  std::string step, stage;
  std::string fingerprint;
  nlohmann::json ingredients;         ///< what went into the fingerprint, for --explain
  std::filesystem::path folder;
  nlohmann::json facts;               ///< of its outputs
  std::string finished;               ///< ISO time
  std::string library_hash;
};

enum class Action { kRun, kKeep };

struct PlannedStep {
  StepSpec spec;
  std::vector<std::string> needs;                              ///< "data" or step names
  std::map<std::string, std::vector<std::string>> inputs;      ///< port -> producers ("data" or steps)
  std::string fingerprint;
  nlohmann::json ingredients;         ///< {"stage","version","options",  "seed", "inputs":{port:[fingerprints]}}
  Action action = Action::kRun;
  std::string reason;                 ///< "option changed: lr 0.003 -> 0.001 (profiles/kdgat.yaml:31)"
  std::optional<PastStep> kept;       ///< with kKeep
};

struct Plan {
  std::vector<PlannedStep> steps;     ///< topological, file order where free
  std::string fingerprint;            ///< of all steps: names an unfinished run to continue
  std::vector<std::string> warnings;  ///< e.g. the plugin's build changed since the kept step
};

struct PlanRequest {
  std::string only;                   ///< run STAGE: this step and what it needs
  std::string from, until;
  bool force = false;                 ///< nothing is kept (with `only` or `from`: from there on)
};

/// Throws Error(kUsage): unknown step in needs/from/until, a cycle, a required input nobody makes,
/// two producers for a single port (naming them); Error(kPlugin): a stage without plugin.
/// `past` newest first. `data_fingerprint` may be "unknown" when nothing is imported yet.
Plan make_plan(const Profile& profile, const PluginCatalog& catalog, const std::string& data_fingerprint,
               const std::vector<PastStep>& past, const PlanRequest& request);

}  // namespace kdgat
