// A profile, resolved: YAML or JSON layers, presets, KDGAT_* and the command line merged into steps
// with every option set, each value remembering who set it. Opens no plugin and touches no run
// folder.
//
//   dataset: hcrl_sa                 # sub-folder of the run root
//   preset: [student]                # layers below this file
//   data: {path: logs/, window: 100} # import options; `synth: {seconds: 60}` instead of a path
//   seed: 42                         # also seeds, device, threads, nproc, memory_limit, allocator, root
//   options:                         # for every step of a stage, active or not
//     classifier: {lr: 0.001}
//   stages:                          # the steps, in this order
//     autoencoder: {max_epochs: 12}
//     classifier teacher: {stage: classifier, preset: teacher, needs: [data]}
//     evaluate: {}
//   lr: 0.003                        # any other key: that option in every active step that has it
// A stage or step may also have an `allocator` of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plugin/plugin_catalog.h"

namespace kdgat {

/// Values with the place each was set: "profiles/smoke.yaml:14", "default", "KDGAT_LR",
/// "command line, argument 4".
struct Settings {
  nlohmann::json values = nlohmann::json::object();
  std::map<std::string, std::string> origin;
};

struct StepSpec {
  std::string name;                ///< unique in the profile; the step's folder name
  std::string stage;               ///< plugin
  std::vector<std::string> needs;  ///< explicit; empty = by the kinds of the plugin's inputs
  Settings options;   ///< every option of the stage, canonical names, defaults filled in
  std::string where;  ///< file:line that declared the step
  /// Of each option that names a file or folder (see path_options.h), the hash of its content.
  std::map<std::string, std::string> contents{};
  std::optional<std::string> allocator{};  ///< of this step alone; none = the profile's
  std::string allocator_origin{};
};

struct DataSpec {
  std::string path;  ///< "" with synth, or when no data was named
  bool synthetic = false;
  Settings import;  ///< see graph::ImportOptions
  Settings synth;   ///< see graph::SynthOptions
  std::string where;
};

struct Profile {
  std::string name = "default";  ///< of the last layer ("smoke")
  std::string dataset = "default";
  DataSpec data;
  std::vector<StepSpec> steps;
  std::string device = "auto";  ///< auto, cpu, cuda, cuda:N
  int threads = 0;              ///< 0 = by the machine (cores allowed by cgroup and affinity)
  int nproc = 1;                ///< processes that train a stage together
  uint64_t memory_limit = 0;    ///< bytes a stage may use in all; 0 = what the device has
  /// PYTORCH_CUDA_ALLOC_CONF of the stages' processes, but for steps with one of their own.
  std::string allocator = "expandable_segments:True";
  nlohmann::json records = nlohmann::json::object();  ///< options of SectionSchemas::records
  int64_t seed = 42;
  std::vector<std::string> seeds;    ///< of replicates (seed_words.h); none: one run with `seed`
  std::vector<std::string> require;  ///< what figures must come to (run/requirements.h)
  std::filesystem::path root = "runs";
  std::map<std::string, std::string> origin;  ///< who set the host's keys and data.path
  std::string only;                           ///< the step that `run STAGE` names; "" = all
  std::vector<Diagnostic> notes;  ///< what was accepted but has no effect here; for the log
};

/// What the command line says about the profile.
struct ProfileRequest {
  std::vector<std::string> presets;             ///< layered in order
  std::optional<std::filesystem::path> config;  ///< file on top of the presets
  std::string data;                             ///< --data; "" = as in the profile
  std::string stage;                            ///< run STAGE; "" = all
  struct Override {
    std::string key, value, origin;  ///< "classifier.lr", "0.001", "command line, argument 3"
  };
  std::vector<Override> overrides;                 ///< key=value and --flag value, in order
  std::map<std::string, std::string> environment;  ///< KDGAT_*
  std::vector<std::filesystem::path> preset_folders;
  std::vector<Diagnostic> problems;  ///< found while reading the command line
};

/// Options of a part of the host that profiles do not know, as its table declares them.
struct OptionSection {
  nlohmann::json schema = {{"properties", nlohmann::json::object()}};
  /// What is wrong with values that fit the schema.
  std::function<std::vector<Diagnostic>(const nlohmann::json& values)> check{};
};

/// What the host itself does not know, given by the caller.
struct SectionSchemas {
  nlohmann::json import, synth;  ///< of the data section
  OptionSection records{};       ///< keys beside the host's own
  /// Replaces values of the import that follow from others where nobody set them; may be empty.
  std::function<void(nlohmann::json& values)> settle_import{};
};

/// The host's own keys (see profile_keys.h) and those of the sections that stand beside them.
nlohmann::json run_schema(const SectionSchemas& sections);

/// Throws Error(kUsage) with all problems at once, each with file:line or argument and the nearest
/// key. A key that no active step has but another known stage does is accepted (published flat
/// files hold the options of every model). Options of a stage's `refused` list are refused unless
/// neutral.
Profile resolve_profile(const ProfileRequest& request, const PluginCatalog& catalog,
                        const SectionSchemas& schemas);

/// The folder profiles next to the program, and in it those of the fields that were built.
std::vector<std::filesystem::path> default_preset_folders();

}  // namespace kdgat
