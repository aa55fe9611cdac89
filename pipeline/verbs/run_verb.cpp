// `kdgat run`: stages of a profile, a preset or one stage.
#include <algorithm>
#include <filesystem>

#include "pipeline/cli/command_line.h"
#include "pipeline/plugin/option_groups.h"
#include "pipeline/profile/profile_layers.h"
#include "pipeline/show/text.h"
#include "pipeline/verbs/commands/run_command.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunHelp = R"(Run the stages of a profile, a preset or one stage.

  kdgat run --preset smoke                          synthetic traffic, under a minute on a CPU
  kdgat run --preset smoke --data logs/             the same on your own logs
  kdgat run profiles/hcrl_sa.yaml --data data/hcrl_sa
  kdgat run autoencoder --preset vgae,student --data logs/ max_epochs=20
  kdgat run my.yaml classifier.lr=0.001 --batch-size 512 data.window=50
  kdgat run my.yaml --require "classifier.test_01.f1>=0.9"    11 if the figure is lower
  kdgat run my.yaml --seeds 1..5                    a run for each seed, several at once
  kdgat run my.yaml --dry-run                       what would run, and why
  kdgat run autoencoder --help                      the options of one stage that matter first
  kdgat run autoencoder --help all                  all of them, by purpose

usage: kdgat run [STAGE | STEP] [FILE.yaml | FILE.json] [key=value ...] [options]

  --preset A,B         layers below the file, in order
  --config FILE        the same as naming the file
  --data PATH          input: a log, a folder of logs, a graph store, - for standard input
  --root DIR           folder that holds all runs (default runs)
  --device D           auto, cpu, cuda or cuda:N
  --threads N          threads of a stage; 0 = as many as this process may use
  --nproc N            processes on this machine that train a stage together (default 1)
  --memory-limit SIZE  memory a stage may use in all, e.g. 4GiB (default: what the device has)
  --allocator WORDS    settings of the CUDA allocator (default expandable_segments:True)
  --records A,B        files made of the journals: csv, tensorboard (default both; [] = none)
  --mlflow-uri URI     metrics also to this MLflow server or folder (default MLFLOW_TRACKING_URI)
  --seed N             seed of every stage
  --seeds A..B|A,B,C   a run for each of these seeds, on the same data; several at once
  --at-once N          of these most at once (default: as cores and memory allow)
  --name NAME          what to call the run: stands where its id may
  --tag TAG            a word to find it by; may be said again
  --from STEP          run this step and what depends on it again
  --until STEP         stop after this step
  --require EXPR       end with 11 unless a figure is as required; may be said again
  --force              keep nothing of earlier runs
  --verify             read all data and their hashes, not only once a day for each file
  -n, --dry-run        say what would run, and why; change nothing (kdgat plan --explain)
  --progress FORM      text, or jsonl: one JSON object a line on stderr (also KDGAT_PROGRESS)
  --in-process         run stages in this process (for debugging)

Options of stages: stage.key=1, step.key=1, or key=1 for every step that has it; a list is [1,2].
A step for which the profile sets the key itself keeps its value under key=1; a note says so. Each
is also a flag: --classifier.lr 0.001, --batch-size 512. Also from the environment, KDGAT_LR or
KDGAT_CLASSIFIER__LR. Defaults < presets < file < environment < command line.

With --seeds (seeds: 1..5 in a profile) the runs are replicates of one run: kdgat runs show, runs
compare and report give mean and standard deviation over them. Without --threads the cores are
shared among those at once. Each has the weights that --seed N --threads N gives. The same words
again continue what was stopped or failed, and keep the replicates that are done.

--require takes STEP.FIGURE or STEP.PART.FIGURE as kdgat runs show --json lists them, then >=, >,
<=, < or == and a number: "classifier.val_loss<0.1", "detector.test_01.false_windows==0". The
beginning of a name will do where it begins one alone. Steps that are kept count. A name that the
run cannot have ends with 2 before anything is trained, a failed step with its own code. In a
profile: require: ["classifier.test_01.f1>=0.9"].
)";

constexpr const char* kAll = "all";  // kdgat run STAGE --help all

/// A stage with fewer options than this has no long help that could be cut short.
constexpr std::size_t kFew = 12;

std::string stage_help(const PluginDescription& plugin, bool is_all) {
  std::string out = plugin.summary + "\n\n";
  out += "  kdgat run " + plugin.name + " --data logs/ key=value --a-flag VALUE\n";
  out += "  kdgat run " + plugin.name + " --help all\n\n";
  const std::size_t count = options_in(plugin.options).size();
  const std::vector<std::string> first = first_options(plugin.options);
  const std::string end =
      "\nSee kdgat run --help for profiles, presets and the options of the run itself.\n";
  if (!is_all && !first.empty() && count > kFew) {
    return out + "The options of " + plugin.name +
           " that matter first, as flags here and as keys in a profile:\n\n" +
           options_text_of(plugin.options, first) + "\nkdgat run " + plugin.name +
           " --help all lists all " + std::to_string(count) + " options, by purpose.\n" + end;
  }
  out += "Options of " + plugin.name + ", as flags here and as keys in a profile:\n\n";
  out += options_by_purpose(plugin.options);
  if (!plugin.refused.empty()) out += "\nPublished keys not supported in this version:\n\n";
  for (const PublishedKey& refused : plugin.refused) {
    const std::string name = "  " + refused.name + "  ";
    out += name + wrapped(refused.reason, 4, 100 - name.size()) + "\n";
  }
  return out + end;
}

/// Of `kdgat run STAGE --help [all]`: that stage's options.
std::string run_help(const std::vector<std::string>& arguments, const PluginCatalog& catalog) {
  const bool is_all = std::find(arguments.begin(), arguments.end(), kAll) != arguments.end();
  for (const std::string& word : arguments) {
    if (const PluginDescription* plugin = catalog.find(word)) return stage_help(*plugin, is_all);
  }
  const bool names_stage = !arguments.empty() && arguments[0] != kAll &&
                           arguments[0].find_first_of("-=./") == std::string::npos;
  if (names_stage) {
    throw Error(ExitCode::kUsage, "unknown stage " + arguments[0],
                suggestion(arguments[0], stage_names(catalog), "kdgat plugins list"));
  }
  return kRunHelp;
}

/// A stage, a preset, a profile or data that was named without a verb.
std::string words_meant(const std::string& word, const PluginCatalog& catalog) {
  if (catalog.find(word) != nullptr) return "run " + word;
  const std::vector<std::string> presets = preset_names(default_preset_folders());
  if (std::find(presets.begin(), presets.end(), word) != presets.end()) {
    return "run --preset " + word;
  }
  if (!fs::exists(word)) return "";
  return is_profile_file(word) ? "run " + word : "fit " + word;
}

int run_verb(Context& context, const std::vector<std::string>& arguments) {
  RunStyle style;
  style.flags.takes_seeds = true;
  return run_words(context, arguments, style);
}

}  // namespace

Verb make_run_verb() {
  return {"run",           "run the stages of a profile, a preset or one stage",
          Needs::kPlugins, run_verb,
          run_help,        false,
          words_meant};
}

}  // namespace kdgat
