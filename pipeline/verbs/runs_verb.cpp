// kdgat runs list|show|compare|pivot|export|note|rm: the runs there are, what one did, how several
// differ, what its user says of one, and their removal.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/memory/memory_report.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/replicates.h"
#include "pipeline/run/requirements.h"
#include "pipeline/run/run_figures.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/sparkline.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/system/program.h"
#include "pipeline/verbs/commands/next_commands.h"
#include "pipeline/verbs/commands/run_replicates.h"
#include "pipeline/verbs/commands/runs_actions.h"
#include "pipeline/verbs/commands/runs_curves.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What to type to go on with a run.
std::string next_text(const RunRecord& run, const PluginCatalog& catalog) {
  const std::string folder = shell_line({run.folder.string()});
  if (run.state == "running") return "it is running";
  if (run.state == "done" && run.steps.empty()) {
    return "kdgat report " + folder + " · kdgat runs compare " + folder + " RUN";
  }
  if (run.state == "done") return commands_after(run.folder, folder, catalog);
  return (run.command.empty() ? "the kdgat run it was started with" : run.command) +
         " continues it · kdgat report " + folder;
}

/// "bench, cuda, NVIDIA H100, 2 threads of Intel Xeon"
std::string machine_text(const RunRecord& run) {
  std::vector<std::string> words = {run.host};
  for (const std::string& word : {run.device, run.gpu}) {
    if (!word.empty()) words.push_back(word);
  }
  std::string threads;
  if (run.threads > 0) {
    threads = std::to_string(run.threads) + (run.threads == 1 ? " thread" : " threads");
    words.push_back(threads + (run.cpu.empty() ? "" : " of " + run.cpu));
  } else if (!run.cpu.empty()) {
    words.push_back(run.cpu);
  }
  return joined(words, ", ");
}

/// "commit 0123456789ab (changed) of main in /home/me/study"
std::string source_text(const json& git) {
  const std::string commit = word(git, "commit"), branch = word(git, "branch");
  if (commit.empty()) return "";
  const json dirty = below(git, "dirty");
  return "commit " + commit.substr(0, 12) + (dirty == json(true) ? " with changes" : "") +
         (branch.empty() ? "" : " of " + branch) + " in " + word(git, "folder");
}

std::string first_few(const std::vector<std::string>& list) {
  constexpr std::size_t kShown = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i) {
    out += (i == 0 ? "" : ", ") + list[i];
  }
  if (list.size() > kShown) out += " and " + std::to_string(list.size() - kShown) + " more";
  return out;
}

/// A line for each step with its largest files.
std::string files_text(const RunRecord& run) {
  Table table;
  for (const StepRecord& step : run.steps) {
    std::vector<std::pair<uint64_t, std::string>> files;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(step.folder, ignored)) {
      const bool is_folder = entry.is_directory(ignored);
      files.emplace_back(is_folder ? size_on_disk(entry.path()) : entry.file_size(ignored),
                         entry.path().filename().string() + (is_folder ? "/" : ""));
    }
    std::sort(files.rbegin(), files.rend());
    std::vector<std::string> words;
    words.reserve(files.size());
    for (const auto& [bytes, name] : files) words.push_back(name + " " + format_bytes(bytes));
    if (!words.empty()) table.add({step.step, first_few(words)});
  }
  return table.text();
}

int show_run(Context& context, const std::vector<std::string>& words) {
  std::string name, root = "runs";
  CommandLine line(context, "kdgat runs show");
  line.word(name, Offer::kRuns);
  line.value("--root", root, Offer::kFiles);
  line.parse(words);
  const std::vector<std::string> names(name.empty() ? 0 : 1, name);
  const RunRecord run = read_runs(names, root, 1, "kdgat runs show").front();
  const bool has_replicates = !read_replicates(run.folder).empty();
  const std::vector<StepMemory> memory = read_run_memory(run.folder);
  if (context.json) {
    json out = run_json(run);
    out["memory"] = memory_report_json(memory);
    if (has_replicates) out["seeds"] = replicates_report(run.folder);
    print_json(context, "kdgat.runs.show", out);
    return 0;
  }
  Table head;
  const auto add = [&](const char* what, const std::string& text) {
    if (!text.empty()) head.add({what, text});
  };
  add("run", run.id + "  " + run.state + ", " +
                 (has_replicates ? seeds_done(run.folder) : run.progress()));
  add("name", run.labels.name);
  add("tags", joined(run.labels.tags, ", "));
  for (const RunNote& note : run.labels.notes) {
    add("note", format_when(note.time) + "  " + note.text);
  }
  add("when",
      format_when(run.started) + (run.seconds() < 0 ? "" : ", " + format_seconds(run.seconds())));
  add("profile", run.profile + ", data set " + run.dataset);
  add("machine", machine_text(run));
  add("versions", "kdgat " + run.version + (run.libtorch.empty() ? "" : ", " + run.libtorch));
  add("source", source_text(run.git));
  add("data", run.data.is_object() ? run.data.value("summary", "") : "");
  add("command", run.command);
  for (const std::string& text : requirements_text(run.requirements)) add("required", text);
  add("folder", run.folder.string() + ", " + format_bytes(size_on_disk(run.folder)));
  context.out << head.text() << '\n';
  if (has_replicates) {
    context.out << replicates_text(run.folder, false) << '\n'
                << "next: " << printable(next_text(run, context.catalog)) << '\n';
    return 0;
  }

  Table steps;
  steps.add({"step", "stage", "state", "time", "why"});
  for (const StepRecord& step : run.steps) {
    steps.add({step.step, step.stage, step.status,
               step.seconds < 0 ? "" : format_seconds(step.seconds),
               step.error.empty() ? step.reason : step.error});
  }
  context.out << steps.text();
  const std::string losses = loss_text(run, has_unicode());
  if (!losses.empty()) context.out << '\n' << losses;
  std::vector<NamedResult> results;
  for (const StepRecord& step : run.steps) {
    results.push_back({step.step, read_result(step.folder)});
  }
  context.out << joined_tables_text(results);
  if (!memory.empty()) context.out << memory_report_text(memory) << '\n';
  context.out << files_text(run) << '\n';
  context.out << "next: " << printable(next_text(run, context.catalog)) << '\n';
  return 0;
}

/// The runs below the root, other than those that go, whose kept steps are files of `run`; as
/// "classifier of run 01M7…B7".
std::vector<std::string> resting_on(const RunRecord& run, const std::vector<RunRecord>& everything,
                                    const std::set<fs::path>& going) {
  std::vector<std::string> out;
  const fs::path home = fs::canonical(run.folder);
  for (const RunRecord& other : everything) {
    if (going.contains(fs::canonical(other.folder))) continue;
    for (const StepRecord& step : other.steps) {
      if (step.is_kept() && fs::weakly_canonical(step.folder).parent_path() == home) {
        out.push_back(step.step + " of run " + short_run(other.id));
      }
    }
  }
  return out;
}

/// A run of replicates goes with them.
std::vector<RunRecord> with_replicates(std::vector<RunRecord> runs) {
  std::vector<RunRecord> out;
  std::set<fs::path> seen;
  const auto add = [&](RunRecord run) {
    if (seen.insert(fs::weakly_canonical(run.folder)).second) out.push_back(std::move(run));
  };
  for (RunRecord& run : runs) {
    std::vector<RunRecord> replicates = read_named_runs({run.folder}).runs;
    if (read_replicates(run.folder).empty()) replicates.clear();
    add(std::move(run));
    for (RunRecord& one : replicates) add(std::move(one));
  }
  return out;
}

/// Every reason why not all of the runs can go; none goes unless all can.
std::vector<Diagnostic> objections(const std::vector<RunRecord>& runs, const fs::path& root,
                                   bool is_forced) {
  std::set<fs::path> going;
  for (const RunRecord& run : runs) going.insert(fs::canonical(run.folder));
  const std::vector<RunRecord> everything = list_runs(root);
  std::vector<Diagnostic> out;
  for (const RunRecord& run : runs) {
    const std::string name = "run " + short_run(run.id);
    if (fs::canonical(run.folder).parent_path().parent_path() != fs::weakly_canonical(root)) {
      out.push_back({"", run.folder.string() + " is not below " + root.string(),
                     "--root DIR names the folder that holds all runs"});
    } else if (is_worked_on(run.folder)) {
      out.push_back({"", name + " is running", "end it first"});
    } else if (const auto others = resting_on(run, everything, going);
               !is_forced && !others.empty()) {
      out.push_back({"", "other runs kept steps of " + name + ": " + first_few(others),
                     "remove those runs too, or say --force"});
    }
  }
  return out;
}

/// What a name to remove by must be, so that a slip removes nothing: more of an id than begins the
/// ids of a day, its short form, or a folder.
void check_names(const std::vector<std::string>& names) {
  constexpr std::size_t kLeast = 6;
  std::vector<Diagnostic> problems;
  for (const std::string& name : names) {
    if (text_width(name) >= kLeast || name.find('/') != std::string::npos) continue;
    problems.push_back({"", "\"" + name + "\" is too short for an id to remove a run by",
                        "give at least six characters of it, or the folder; kdgat runs list shows "
                        "the ids"});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
}

/// Asks, where somebody can answer. Throws Error(kUsage) where nobody can.
bool is_agreed(Context& context, const std::vector<RunRecord>& runs) {
  std::string list;
  for (const RunRecord& run : runs) list += (list.empty() ? "" : ", ") + run.folder.string();
  if (context.json || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) {
    throw Error(ExitCode::kUsage, "would remove " + list + ", by a part of its id",
                "say --yes, or give whole ids or folders");
  }
  context.err << "remove " << one_line(list) << "? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// What killed removals and imports left anywhere below the root.
void clear_below(const fs::path& root) {
  std::error_code ignored;
  for (fs::directory_iterator set(root, ignored); set != fs::directory_iterator();
       set.increment(ignored)) {
    clear_removed(set->path());
    clear_data_leftovers(set->path());
  }
}

int remove(Context& context, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::string root = "runs";
  bool is_dry = false, is_forced = false, is_sure = false;
  CommandLine line(context, "kdgat runs rm");
  line.words([&](const std::string& name) { names.push_back(name); }, Offer::kRuns);
  line.value("--root", root, Offer::kFiles);
  line.flag("-n,--dry-run", is_dry);
  line.flag("-y,--yes", is_sure);
  line.flag("-f,--force", is_forced);
  line.parse(words);
  check_names(names);
  const std::vector<RunRecord> runs = with_replicates(read_runs(names, root, 1, "kdgat runs rm"));
  std::vector<Diagnostic> problems = objections(runs, root, is_forced);
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  const bool is_whole = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const RunRecord& run) { return names_whole_run(name, run.folder); });
  });
  if (!is_dry && !is_sure && !is_whole && !is_agreed(context, runs)) {
    context.err << "nothing was removed\n";
    return 0;
  }
  if (!is_dry) clear_below(root);
  json out = json::array();
  for (const RunRecord& run : runs) {
    const uint64_t bytes = size_on_disk(run.folder);
    if (!is_dry) remove_run(fs::canonical(run.folder));
    out.push_back({{"id", run.id}, {"folder", run.folder.string()}, {"bytes", bytes}});
    if (!context.json) {
      context.out << (is_dry ? "would remove " : "removed ") << one_line(run.folder.string())
                  << "  " << format_bytes(bytes) << '\n';
    }
  }
  if (context.json) print_json(context, "kdgat.runs.rm", {{"dry_run", is_dry}, {"runs", out}});
  return 0;
}

constexpr const char* kRunsHelp = R"(List, show, compare, tabulate, name and remove runs.

  kdgat runs list                                   newest first: state, steps, figures, size
  kdgat runs list --dataset hcrl_sa --root /scratch/runs --json
  kdgat runs list --tag paper --where "classifier.lr<0.01" --where "f1>=0.9"
  kdgat runs show 01JD                              steps and why they ran, figures, memory, files
  kdgat runs compare 01JD…K7 01JD…B2                options that differ, figures side by side
  kdgat runs compare 01JD…K7 01JD…B2 --format md    of runs over seeds: mean, sd, difference
  kdgat runs pivot rows=classifier.lr cols=seed value=classifier.val_loss --format latex
  kdgat runs export --dataset hcrl_sa > runs.csv    a row a run: options that differ, figures
  kdgat runs note 01JD "seed was wrong" --tag void   a note and a tag; --name NAME, --untag TAG
  kdgat runs rm 01JD…B2 --dry-run                   what would go
  kdgat runs rm 01JDAB --yes                        by the beginning of its id, unasked

usage: kdgat runs list [WHICH] [--root DIR] [--json]
       kdgat runs show RUN [--root DIR] [--json]
       kdgat runs compare RUN [RUN...] [--by-run] [--format text|csv|md|latex] [-v] [--json]
       kdgat runs pivot [rows=KEY,..] [cols=KEY,..] value=KEY [WHICH] [--format text|csv|md|latex]
       kdgat runs export [WHICH] [--format csv|jsonl]
       kdgat runs note RUN [TEXT] [--name NAME] [--tag TAG] [--untag TAG] [--root DIR] [--json]
       kdgat runs rm RUN [RUN...] [-n] [-y] [-f] [--root DIR] [--json]

RUN is an id, its beginning, its short form, a name or a folder. Where it could mean several they
are listed and none is taken.

  --root DIR           folder that holds all runs (default runs)

WHICH, each of which leaves runs out:
  --dataset NAME       only the runs of this data set
  --name NAME          only those of this name
  --tag TAG            only those with this tag; may be said again
  --where CONDITION    KEY, one of >= <= == != > < and a value; may be said again

A KEY is an option ("classifier.lr", "data.window", "seed"), a figure ("classifier.val_loss",
"classifier.test_01.f1") or one of run, name, tag, profile, dataset, state, host, device, cpu, gpu,
kdgat, libtorch, started, threads, seconds. The end of a key will do where no other ends so. A cell
of a pivot is the mean of the results in it, with their number; a step that a run kept of another is
one result, not two. A run that lacks the value is left out.

  --name NAME          note: call the run so, in place of its name
  --tag, --untag TAG   note: add a tag, or take one away; may be said again
  -n, --dry-run        say what would be removed; change nothing
  -y, --yes            do not ask
  -f, --force          remove also runs whose steps other runs kept
  -v                   compare also figures that are the same
  --by-run             compare each run, also those that differ in the seed alone
  --format FORM        text, csv, md or latex (compare: figures alone, but for text)

Runs that are the same but for the seed (kdgat run --seeds, or several groups of runs named) are
compared as one: mean ± standard deviation over n seeds, and against the first the difference
paired by seed, with its 95 % interval by Student's t. Only validation data mark a best one.

A run is removed by its folder, its whole id or at least six characters of it that begin no other.
By a part of its id it is asked about, and where nobody can answer only removed with --yes. A run
that a process works on is never removed, nor anything outside of the root; imported data stay.
Either all named runs are removed, or none.
)";

int runs_verb(Context& context, const std::vector<std::string>& arguments) {
  const Command command = read_action(context, "runs", arguments,
                                      {"list", "show", "compare", "pivot", "export", "note", "rm"});
  if (command.name == "show") return show_run(context, command.words);
  if (command.name == "compare") return compare_runs(context, command.words);
  if (command.name == "rm") return remove(context, command.words);
  if (command.name == "pivot") return pivot_runs(context, command.words);
  if (command.name == "export") return export_runs(context, command.words);
  if (command.name == "note") return note_run(context, command.words);
  return print_runs(context, command.words);
}

}  // namespace

Verb make_runs_verb() {
  return {"runs", "list, show, compare, tabulate, name and remove runs", Needs::kCatalog, runs_verb,
          help_text(kRunsHelp)};
}

}  // namespace kdgat
