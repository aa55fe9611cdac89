// The words after `kdgat run` (and `kdgat config show`), read into what profile and plan are asked.
// Knows the names of flags; what an option means, and whether its value is good, is the profile's.
//
//   kdgat run [STAGE | STEP] [FILE.yaml | FILE.json] [key=value ...]
//     --preset A,B  --config FILE  --data PATH  --root DIR  --device D  --threads N  --seed N
//     --memory-limit SIZE  --allocator SETTINGS
//     --from STEP  --until STEP  --force  --verify  -n, --dry-run  --in-process
//     --option-name VALUE...    every option of every stage, own or published name, dashes
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/cli/cli.h"
#include "pipeline/profile/profile.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/run_labels.h"

namespace kdgat {

class CommandLine;

struct RunOptions {
  ProfileRequest profile;  ///< root, device, threads, seed and seeds are overrides in here
  PlanRequest plan;        ///< after resolve_profile set plan.only = Profile::only
  bool dry_run = false;    ///< also of kdgat plan --explain
  bool in_process = false;
  int at_once = 0;  ///< most replicates at once; 0 = as cores and memory allow
  /// What --require adds to the profile's; key "require".
  std::vector<ProfileRequest::Override> require;
  LabelChange labels{};  ///< name and tags of the run
  bool verify = false;   ///< data hashes are read, whenever that was last done
};

/// What a profile may hold beside the host's own keys and the options of stages.
SectionSchemas profile_sections();

/// What a verb that takes the words of `kdgat run` has of its own.
struct RunFlags {
  std::string called = "kdgat run";  ///< how a user types it
  /// Declares further flags, which stand before those of options of the same name.
  std::function<void(CommandLine&, RunOptions&)> declare{};
  /// A word that is neither an option nor a profile names the data, not a stage.
  bool takes_data = false;
  /// What runs does so on another machine: this one needs no driver for the device.
  bool runs_elsewhere = false;
  /// The verb makes a run for each of several seeds.
  bool takes_seeds = false;
  /// --explain is another name of --dry-run.
  bool explains = false;
  /// A word that the verb takes first in place of all this: an action.
  const char* action = nullptr;
};

/// Reads the command line and the KDGAT_* environment; fills preset_folders with the default ones.
/// Problems found here (a flag without its value, an unknown flag with the nearest one) wait in
/// profile.problems, so that resolve_profile reports them with all others.
RunOptions parse_run_options(const Context& context, const std::vector<std::string>& arguments,
                             const RunFlags& extras = {});

/// What was typed, to be typed again: `called` and the words, quoted where a shell wants it, with
/// the plugin folders of the context; without the secrets in them (see system/secrets.h).
std::string typed_line(const Context& context, const std::string& called,
                       const std::vector<std::string>& words);

/// For `old` words that go by another name now: an error that says what to type instead, `called`
/// and the words.
Error moved(const Context& context, const std::string& old, const std::string& called,
            std::vector<std::string> words);

/// Variables of the environment whose names start with KDGAT_, without those the program itself
/// reads (KDGAT_PLUGIN_PATH, KDGAT_ISA and the like).
std::map<std::string, std::string> option_environment();

}  // namespace kdgat
