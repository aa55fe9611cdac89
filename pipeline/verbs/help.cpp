// Help texts: examples first, then what there is to say. Options of stages come from their schemas.
#include <algorithm>
#include <cstdio>

#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/profile/profile_keys.h"
#include "pipeline/show/text.h"
#include "pipeline/slurm/site_profile.h"

namespace kdgat {

namespace {

struct HelpRow {
  const char* verb;
  const char* text;
};

constexpr const char* kRunHelp = R"(Run the stages of a profile, a preset or one stage.

  kdgat run --preset smoke                          synthetic traffic, under a minute on a CPU
  kdgat run --preset smoke --data logs/             the same on your own logs
  kdgat run profiles/hcrl_sa.yaml --data data/hcrl_sa
  kdgat run autoencoder --preset vgae,student --data logs/ max_epochs=20
  kdgat run my.yaml classifier.lr=0.001 --batch-size 512 data.window=50
  kdgat run my.yaml --dry-run                       what would run, and why
  kdgat run autoencoder --help                      the options of one stage

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
  --from STEP          run this step and what depends on it again
  --until STEP         stop after this step
  --force              keep nothing of earlier runs
  -n, --dry-run        say what would run; change nothing
  --explain            say why each step runs or is kept
  --progress FORM      text, or jsonl: one JSON object a line on stderr (also KDGAT_PROGRESS)
  --in-process         run stages in this process (for debugging)

Options of stages: stage.key=1, step.key=1 or key=1 (every step that has it); a list is [1,2]. Each
is also a flag: --classifier.lr 0.001, --batch-size 512. Also from the environment, KDGAT_LR or
KDGAT_CLASSIFIER__LR. Defaults < presets < file < environment < command line.
)";

constexpr const char* kTuneHelp =
    R"help(Try many settings of one stage: in one process, as many at once as there is memory for.

  kdgat tune profiles/graphsage.yaml --data ml-100k --mode architecture
  kdgat tune classifier --preset smoke "lr=[0.001,0.003]" "hidden=[16,32]"
  kdgat tune my.yaml --mode random --samples 40 "lr=log(1e-4,1e-2)" "dropout=uniform(0,0.5)"
  kdgat tune my.yaml --mode asha "lr=log(1e-4,1e-2)" "hidden=int(16,128)"
  kdgat tune show RUN                                the table again
  kdgat tune show RUN --simulate 16GiB               the same trials on a device of that size

usage: kdgat tune [STEP] [FILE.yaml | FILE.json] [key=[A,B,...] ...] [key=value ...] [options]

Every option of kdgat run, and:
  --mode M             grid: every combination of the lists; random: --samples draws from lists and
                       ranges; asha: the same, and at 1, 3, 9, ... epochs only the best third goes
                       on; or a published sweep: example, architecture, loss, grid (without lists)
  --samples N          trials of random and asha (default 20)
  --min-epochs N       first epoch at which asha compares (default 1)
  --eta N              asha lets the best 1/N go on (default 3)
  --metric NAME        of validation, by which the best is chosen (default monitor_metric)
  --goal min|max       default by the metric's name: losses and errors are to be small
  --max-workers N      most trials at once (default: cores on a CPU, by memory on a GPU)
  --devices A,B        devices that take trials by their free memory, e.g. cuda:0,cuda:1
  --gpu-memory-buffer-gb X, --gpu-buffer X
                       memory that stays free, in GiB (default 2 on a GPU, 0 on a CPU)
  --model-memory-gb X, --model-memory X
                       reserve this for every trial instead of what is measured for each
  --auto-memory        measure each trial (what happens anyway, unless --model-memory is given)

A list is [A,B], a range uniform(A,B), log(A,B) or int(A,B). Each trial is measured before it runs
and reserves a tenth more; one that runs out of memory is tried again with twice as much. Trials are
steps of a run: the same command again keeps those that are done, kdgat report draws them.
)help";

constexpr const char* kPlanHelp =
    R"(Say what memory each stage needs and which batch fits, without training.

  kdgat plan --preset smoke                         on this machine
  kdgat plan my.yaml --gpu v100-16                  on a card that is not here
  kdgat plan --preset kdgat --data logs/ --device 8GiB --static
  kdgat plan my.yaml --memory-limit 4GiB --json

usage: kdgat plan [what kdgat run takes] [options]

  --device SIZE        plan for a card of this size; any other word is the device of kdgat run
  --gpu NAME           plan for a card by its name, e.g. v100-16, a100-40, t4-16, rtx3090-24
  --memory-limit SIZE  memory a stage may use in all
  --static             count from shapes alone; else a few batches are run to measure
  --json               results as JSON

The data are imported if they are not yet: batches depend on their graphs. Ends with 5 if a stage
does not fit, and says what would help.
)";

constexpr const char* kSubmitHelp =
    R"(Hand the steps of a run to SLURM: a job for each that must run, in one run folder.

  kdgat submit --preset smoke --dry-run             the batch scripts, and how they are submitted
  kdgat submit profiles/kdgat.yaml --data logs/ --profile v100 --slurm account=PAS1234
  kdgat submit my.yaml --profile my_site.yaml --array seeds=1..5
  kdgat submit my.yaml --slurm time=2h --slurm classifier.mem=64GiB

usage: kdgat submit [what kdgat run takes] [options]

  --profile NAME       site profile: a YAML file, or one of profiles/slurm (default slurm)
  --slurm KEY=VALUE    a key of the site profile; STAGE.KEY=VALUE for one stage or step
  --array seeds=1..5   a job array for each step, a run for each seed; also seeds=1,2,7
  --gpu NAME           the card batches are planned for, as in kdgat plan
  --static             plan from shapes alone; else a few batches are run here to measure
  -n, --dry-run        print the scripts; submit nothing
  --json               results as JSON

The data are imported here, if they are not yet: batches, memory and time are planned from them and
frozen, as are options and seeds. A job reads no profile. Keys of a site profile:

)";

constexpr const char* kSubmitEnd = R"(
Exit codes: 0 submitted, or nothing to do; 2 usage, or sbatch took a job not (those before it are
cancelled); 5 a stage does not fit. See docs/slurm.md.
)";

constexpr const char* kJobsHelp =
    R"(Show how the jobs of a submitted run stand: a line for each step, and each task of an array.

  kdgat jobs 01JD                                   a run by its id, or its beginning
  kdgat jobs runs/my/01JD... --json
  kdgat jobs 01JD --retry                           submit failed steps again, with what helps

usage: kdgat jobs RUN [--retry] [--seed N] [--root DIR] [--json]

  --retry              submit again what failed or was cancelled, and what waits for it: more memory
                       after a lack of it, a lower ceiling of GPU memory, without a broken node;
                       a failure of the step itself is not repeated
  --seed N             only this run of an array
  --root DIR           folder that holds all runs (default runs)
  --json               results as JSON

States come from sacct, else scontrol, else squeue, else the run's own journal. Ends with 1 if
--retry leaves a failed step as it is.
)";

constexpr const char* kCancelHelp =
    R"(End the jobs of a submitted run that wait or run, and say which.

  kdgat cancel 01JD
  kdgat cancel 01JD --seed 3                        only this run of an array

usage: kdgat cancel RUN [--seed N] [--root DIR] [--json]

What was done stays; kdgat jobs RUN --retry continues the rest.
)";

constexpr const char* kMemoryHelp =
    R"(Estimate a stage's memory, or report what a run planned and used.

  kdgat memory estimate --stage classifier          one line, for graphs as in hcrl_sa
  kdgat memory estimate --stage autoencoder --preset teacher --gpu t4-16 batch_size=1024
  kdgat memory estimate --stage classifier --graphs 150000 --nodes 40 --edges 80 -v
  kdgat memory estimate --stage graphsage --legacy hidden_dim=64 num_layers=2
  kdgat memory report 01JD                          planned against measured, each stage
  kdgat memory report runs/my/01JD... --svg memory.svg

usage: kdgat memory estimate --stage STAGE [key=value ...] [options]
       kdgat memory report RUN [--svg FILE] [--root DIR] [--json]

  --graphs N           windows there are (default 9364)
  --nodes X, --edges X means of a window (default 28.9 and 49.2)
  --num-ids N          identifiers (default 2049)
  --num-users N, --num-items N, --num-ratings N
                       of graphsage (default 1000, 1000 and 100000); num_users=N too
  --legacy             the published formula beside what graphsage holds; without hidden_dim and
                       num_layers the published tables
  --interactive        ask for the sizes of graphsage
  --preset A,B         options of presets, as in kdgat run
  --device SIZE, --gpu NAME, --memory-limit SIZE
                       as in kdgat plan
  -v                   the whole table
  --json               results as JSON

The report's error is that of the planned peak of tensors. --svg draws memory over time, to be
opened in a browser.
)";

constexpr const char* kSyncHelp =
    R"(Write and send what is missing of the records of runs: metrics.csv, TensorBoard's event files, and
what MLflow has not got because the network, the server or the run itself went down.

  kdgat sync                                        every run below runs/
  kdgat sync 01JD                                   one run, by its folder or id
  kdgat sync 01JD --to http://localhost:5000        to this server, or a folder: --to mlruns
  kdgat sync 01JD --follow                          while it runs, from a machine with a network

usage: kdgat sync [RUN ...] [options]

  --to URI             http://HOST:PORT or a folder, in place of where the run was to be sent
  --root DIR           folder that holds all runs (default runs)
  --follow             go on until the run has ended
  --json               results as JSON

Nothing is sent twice. Addresses of a run are its mlflow_uri, else MLFLOW_TRACKING_URI. Ends with 3
if something could not be written or sent, and says what.
)";

constexpr const char* kReportHelp =
    R"(Write one HTML file of what a run did, or of how several differ.

  kdgat report 01JD                                 by the beginning of its id
  kdgat report 01JD…K7                              as kdgat run shows it
  kdgat report runs/my/01JD... -o report.html       by its folder
  kdgat report 01JD…K7 01JD…B2                      two runs side by side, then each of them
  kdgat report 01JD --root elsewhere -o - > page.html

usage: kdgat report RUN [RUN...] [-o FILE] [--root DIR] [--json]

  -o, --output FILE    write there, - for standard output (default report.html in the run's folder,
                       of several runs compare.html in that of the first)
  --root DIR           folder that holds all runs (default runs)
  --json               name of the file, its size and the runs, as JSON

What ran and why, failures with the end of their logs, results, curves of training, ROC and
precision against recall, decisions at the thresholds, memory planned and measured, options and who
set them, the data. The file needs no network and no script, reads well on a phone and prints. Runs
that are still at work, failed or were interrupted are shown as far as they came. Prints the file's
name.
)";

constexpr const char* kRunsHelp = R"(List, show, compare and remove runs.

  kdgat runs list                                   newest first: state, steps, figures, size
  kdgat runs list --dataset hcrl_sa --root /scratch/runs --json
  kdgat runs show 01JD                              steps and why they ran, figures, memory, files
  kdgat runs compare 01JD…K7 01JD…B2                options that differ, figures side by side
  kdgat runs rm 01JD…B2 --dry-run                   what would go

usage: kdgat runs list [--root DIR] [--dataset NAME] [--json]
       kdgat runs show RUN [--root DIR] [--json]
       kdgat runs compare RUN RUN [RUN...] [--root DIR] [-v] [--json]
       kdgat runs rm RUN [RUN...] [-n] [-y] [--root DIR] [--json]

RUN is an id, its beginning, its short form or a folder.

  --root DIR           folder that holds all runs (default runs)
  --dataset NAME       only the runs of this data set
  -n, --dry-run        say what would be removed; change nothing
  -y, --force          remove also runs whose steps other runs kept
  -v                   compare also figures that are the same

A run that a process works on is never removed, nor anything outside of the root; imported data
stay. Either all named runs are removed, or none.
)";

constexpr const char* kScoreHelp =
    R"(Score the windows of a log with a trained model: one line a window on standard output.

  kdgat score drive.log --run runs/my/01JD.../classifier     a step's folder, or its model file
  kdgat score drive.csv.gz --run 01JD                        a run by its id, or its beginning
  candump -L can0 | kdgat score - --run 01JD --calibrate 100 lines come as windows fill
  kdgat score logs/ --run 01JD --model student --json -o scores.jsonl

usage: kdgat score LOG --run RUN [options]

LOG is a log of any form, gzip or not, a folder of logs, or - for standard input. Vocabulary,
features and windows are the model file's own, which is all that is needed. Columns:

  time       of the window's first row, in the log's own clock; empty where the log has none
  window     number in its log, from 0
  row        the window's first row in its log, from 0; malformed rows do not count
  ids        distinct ids
  score      probability of attack (classifier), reconstruction error (autoencoder)
  decision   attack, benign, or calibration: taken as benign to set the threshold
  file       for a folder of logs

  --run RUN            a run's id or folder, a step's folder, or a model file
  --model STEP         which model of a run that has several (else the fusion, else the classifier)
  -o, --output FILE    write there, whole or not at all
  --json               a JSON object a line
  --root DIR           folder that holds all runs (default runs)
  --device D           cpu, cuda or cuda:N (default cpu)
  --threads N          threads (default 1)

)";

constexpr const char* kScoreEnd = R"(
Exit codes: 0 every window was scored; 2 usage, or no threshold; 3 the log or the model cannot be
read, or fills no window; 130 and 143 stopped by a signal, after the lines written so far.
)";

constexpr const char* kConfigHelp = R"(Look at profiles and options without running anything.

  kdgat config show --preset smoke                  the resolved profile, ready to be a file
  kdgat config show my.yaml lr=0.01 --origin        and who set each value
  kdgat config schema autoencoder                   the options of a stage
  kdgat config schema --json > profile.schema.json  JSON Schema of a profile, for editors
  kdgat config init my.yaml                         begin a profile, with comments

usage: kdgat config show [what kdgat run takes] [--origin] [--json]
       kdgat config schema [STAGE | data | synth] [--json]
       kdgat config init [FILE] [--force]
)";

constexpr const char* kPluginsHelp = R"(The stages there are.

  kdgat plugins list                                name, version, LibTorch build, what it does
  kdgat plugins show classifier                     inputs, outputs and every option
  kdgat plugins list --plugin-dir my_plugins/

usage: kdgat plugins list | show STAGE [--json]

Plugins are searched in --plugin-dir, KDGAT_PLUGIN_PATH, plugins/ beside the executable and
$XDG_DATA_HOME/kdgat/plugins.
)";

constexpr const char* kDoctorHelp = R"(Check this machine.

  kdgat doctor                                      one line a check: ok, warn or fail
  kdgat doctor --json

usage: kdgat doctor [--json]
)";

constexpr const char* kCompletionHelp = R"(Print the completion script of a shell.

  source <(kdgat completion bash)
  kdgat completion zsh > ~/.zfunc/_kdgat
  kdgat completion fish > ~/.config/fish/completions/kdgat.fish

usage: kdgat completion bash | zsh | fish
)";

constexpr const char* kVersionHelp = R"(Print the version and what it was built with.

  kdgat version
  kdgat version --json

usage: kdgat version [--json]
)";

constexpr const char* kHelpHelp = R"(Help.

  kdgat help                                        what there is
  kdgat help run                                    one verb
  kdgat help run autoencoder                        the options of a stage
  kdgat help exit-codes

usage: kdgat help [VERB | exit-codes]
)";

constexpr HelpRow kRows[] = {
    {"run", kRunHelp},
    {"plan", kPlanHelp},
    {"tune", kTuneHelp},
    {"jobs", kJobsHelp},
    {"cancel", kCancelHelp},
    {"memory", kMemoryHelp},
    {"sync", kSyncHelp},
    {"report", kReportHelp},
    {"runs", kRunsHelp},
    {"config", kConfigHelp},
    {"plugins", kPluginsHelp},
    {"doctor", kDoctorHelp},
    {"completion", kCompletionHelp},
    {"version", kVersionHelp},
    {"help", kHelpHelp},
};

std::string stage_help(const PluginDescription& plugin) {
  std::string out = plugin.summary + "\n\n";
  out += "  kdgat run " + plugin.name + " --data logs/ key=value --a-flag VALUE\n";
  out += "  kdgat run " + plugin.name + " --help\n\n";
  out += "Options of " + plugin.name + ", as flags here and as keys in a profile:\n\n";
  out += options_text(plugin.options);
  if (!plugin.refused.empty()) out += "\nPublished keys not supported in this version:\n\n";
  for (const nlohmann::json& refused : plugin.refused) {
    const std::string name = "  " + refused.value("name", "") + "  ";
    out += name + wrapped(refused.value("reason", ""), 4, 100 - name.size()) + "\n";
  }
  return out + "\nSee kdgat run --help for profiles, presets and the options of the run itself.\n";
}

}  // namespace

std::string exit_codes_text() {
  return R"(kdgat exit codes

    0  done
    1  a stage failed
    2  usage or configuration
    3  input data
    4  plugin or ABI
    5  the plan does not fit the device: not even one graph, even alone
   81  out of GPU memory, after smaller batches were tried; see oom-report.md of the step
   82  out of host memory, likewise
   85  checkpointed, please requeue
  130  interrupted
  143  terminated

A failure never ends in 0.
)";
}

std::string program_help() {
  std::string out = R"(kdgat trains graph neural networks in stages on the GPU or CPU you have.

  kdgat run --preset smoke                          try it: synthetic CAN traffic, under a minute
  kdgat run --preset vgae,gat,student --data logs/  an autoencoder and a classifier on your logs
  kdgat report RUN                                  what a run did, as one HTML file
  kdgat score drive.log --run RUN                   a score for each window of a log
  kdgat config show --preset smoke --origin         what would be set, and by whom
  kdgat doctor                                      is this machine ready?

usage: kdgat VERB [options] [key=value ...]

)";
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    out += "  " + verb.name + std::string(13 - verb.name.size(), ' ') + verb.summary + "\n";
  }
  return out + R"(
  --json               results as JSON
  -q, -v               say less, say more
  --plugin-dir DIR     look for stages here first
  --version            the version
  -h, --help           help; kdgat VERB --help for one verb

See kdgat help exit-codes for the exit codes.
)";
}

std::string verb_help(const std::string& verb, const std::vector<std::string>& arguments,
                      const PluginCatalog& catalog) {
  if (verb == "run") {
    for (const std::string& word : arguments) {
      if (const PluginDescription* plugin = catalog.find(word)) return stage_help(*plugin);
    }
    const bool names_stage =
        !arguments.empty() && arguments[0].find_first_of("-=./") == std::string::npos;
    if (names_stage) {
      throw Error(ExitCode::kUsage, "unknown stage " + arguments[0],
                  suggestion(arguments[0], stage_names(catalog), "kdgat plugins list"));
    }
  }
  if (verb == "score") {
    const PluginDescription* plugin = catalog.find("score");
    return kScoreHelp + (plugin == nullptr ? "" : options_text(plugin->options)) + kScoreEnd;
  }
  if (verb == "submit") return kSubmitHelp + site_keys_text() + kSubmitEnd;
  for (const HelpRow& row : kRows) {
    if (verb == row.verb) return row.text;
  }
  return "";
}

}  // namespace kdgat
