// What runs, in what order, and why. Pure: no disk, no clock, no plugin; everything it must know of
// the world is handed in, so that every decision is a unit test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/profile/profile.h"

namespace kdgat {

/// A finished step found in an earlier run of the same data set.
struct PastStep {
  std::string run;  ///< run id
  std::string step, stage;
  std::string fingerprint;
  nlohmann::json ingredients;  ///< what went into the fingerprint, for its reason
  std::filesystem::path folder;
  nlohmann::json facts;  ///< of its outputs
  std::string finished;  ///< ISO time
  std::string library_hash;
  std::string missing;  ///< an output file that is gone; such a step is not kept
};

enum class Action { kRun, kKeep };

struct PlannedStep {
  StepSpec spec;
  std::vector<std::string> needs;                          ///< "data" or step names
  std::map<std::string, std::vector<std::string>> inputs;  ///< port -> producers ("data" or steps)
  std::string fingerprint;
  /// {"stage","version","options" (those that affect results),"seed","memory_limit" (if set),
  ///  "inputs":{port:[{"step","fingerprint"}]}}
  nlohmann::json ingredients;
  Action action = Action::kRun;
  std::string reason;            ///< "option changed: lr 0.003 -> 0.001 (profiles/kdgat.yaml:31)"
  std::optional<PastStep> kept;  ///< with kKeep
};

struct Plan {
  bool needs_no_work() const;  ///< every step is kept

  std::vector<PlannedStep> steps;     ///< topological, file order where free
  std::string fingerprint;            ///< of all steps: names an unfinished run to continue
  std::vector<std::string> warnings;  ///< e.g. the plugin's build changed since the kept step
};

struct PlanRequest {
  std::string only;  ///< run STAGE: this step and what it needs
  std::string from;  ///< this step and what depends on it are not kept
  std::string until;
  bool force = false;  ///< nothing is kept (with `only` or `from`: from there on)
};

/// Stands where a step is named for what no step makes: the data set.
inline constexpr const char* kDataStep = "data";

/// The data fingerprint while nothing is imported yet: no step is kept then.
inline constexpr const char* kUnknownData = "unknown";

/// Throws Error(kUsage): unknown step in needs/from/until, a cycle, a required input nobody makes
/// (one that data of a domain alone require: see check_domains), two producers for a single port
/// (naming them); Error(kPlugin): a stage without plugin.
/// `past` newest first. Inputs of a step that names no needs come by kind: "graphs" from the data,
/// a port that takes many from every earlier step with that kind, another from the one that has it;
/// an optional port stays empty.
Plan make_plan(const Profile& profile, const PluginCatalog& catalog,
               const std::string& data_fingerprint, const std::vector<PastStep>& past,
               const PlanRequest& request);

/// What is known of the data set when steps are checked against it.
struct DataKind {
  std::string domain{};  ///< "" = not known yet
  int64_t classes = -1;  ///< of labelled graphs; -1 = not known yet
};

/// Throws Error(kData) if a step reads data of another domain, or of another number of classes,
/// naming what would fit, and Error(kUsage) if nobody makes an input that is required for such data
/// alone.
void check_domains(const Plan& plan, const PluginCatalog& catalog, const DataKind& data);

/// "01JD…K7" for 01JDX4…K7, "3f9c…" for a fingerprint: enough to recognise it. `end`: characters
/// of the id's end.
std::string short_run(const std::string& id, std::size_t end = 2);
std::string short_hash(const std::string& hash);

}  // namespace kdgat
