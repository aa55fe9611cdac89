// The layers a profile is made of, before they are merged: each preset, file, the environment and
// the command line as a list of assignments with their origin. Knows the form of a profile; does
// not know which options exist. Private to this folder, requirements, run_options, site_profile and
// the verbs that know presets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/profile/profile.h"

namespace kdgat {

/// Where an assignment points. Inside one layer kAll < kStage < kStep; kNamed is a step or a stage,
/// whichever has the name (command line and environment).
enum class Scope { kHost, kData, kSynth, kAll, kStage, kStep, kNamed };

struct Assignment {
  Scope scope = Scope::kAll;
  std::string target;  ///< stage or step of kStage, kStep, kNamed
  std::string key;     ///< as written; "" with kSynth: synthetic input without further options
  Value value;
  std::string origin;  ///< "profiles/smoke.yaml:14", "command line, argument 4", "KDGAT_LR"
};

struct StepDeclaration {
  std::string name;
  std::string stage;  ///< "" = not said here
  std::optional<std::vector<std::string>> needs;
  std::string where;
  std::vector<std::string> presets;  ///< whose options for its stage this step alone takes
  std::string presets_where;
};

enum class LayerKind { kFile, kEnvironment, kCommandLine };

struct Layer {
  std::string name;  ///< "smoke" of profiles/smoke.yaml
  LayerKind kind = LayerKind::kFile;
  std::vector<Assignment> assignments;
  std::vector<StepDeclaration> steps;
  std::vector<std::string> presets;  ///< layers below this one
  std::string presets_where;
  /// The profile it belongs to; of a preset of one step, the profile that names it. "" = no file.
  std::string file{};
};

/// Parses what the command line or the environment gives as a value: a YAML scalar or flow list.
/// Throws Error(kUsage) for a list that does not end.
Value parse_value(const std::string& text);

/// Reads one YAML or JSON file; `catalog` knows the profiles of published programs. What is wrong
/// with its form is added to `problems`.
Layer read_layer(const std::filesystem::path& file, const PluginCatalog& catalog,
                 std::vector<Diagnostic>& problems);

/// Every layer in rising precedence: presets (each above those it names), the file, environment,
/// command line.
std::vector<Layer> gather_layers(const ProfileRequest& request, const PluginCatalog& catalog,
                                 std::vector<Diagnostic>& problems);

/// Puts the home folder in the place of a leading "~/" of values; a value with a variable of the
/// shell is added to `problems`. Not for site profiles, whose lines a shell reads.
void expand_values(Layer& layer, std::vector<Diagnostic>& problems);

/// Names of the presets in `folders`, sorted. slurm/ holds site profiles (site_profile.h), and each
/// folder in fields/ is one of `folders`.
std::vector<std::string> preset_names(const std::vector<std::filesystem::path>& folders);

/// Whether a name is that of a profile's file: .yaml, .yml or .json.
bool is_profile_file(const std::filesystem::path& file);

/// One assignment at the place a dotted key names: "lr", "seed", "data.window", "classifier.lr".
Assignment assignment_of(const std::string& key, Value value, std::string origin);

/// Lower case, blanks and dashes as underscores: how steps and stages are named in keys and flags.
std::string plain_name(const std::string& name);

}  // namespace kdgat
