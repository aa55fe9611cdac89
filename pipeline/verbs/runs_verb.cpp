// kdgat runs list|show|compare|rm: the runs there are, what one did, how several differ, and their
// removal.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/memory/memory_report.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/requirements.h"
#include "pipeline/run/run_figures.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/system/parallel.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void print(Context& context, const json& what) {
  context.out << what.dump(1, ' ', false, json::error_handler_t::replace) << '\n';
}

json figures_json(const std::vector<Figure>& figures) {
  json out = json::array();
  for (const Figure& figure : figures) {
    out.push_back({{"step", figure.model},
                   {"part", figure.part},
                   {"name", figure.name},
                   {"value", figure.value}});
  }
  return out;
}

json steps_json(const RunRecord& run) {
  const auto known = [](double value) { return value < 0 ? json() : json(value); };
  json out = json::array();
  for (const StepRecord& step : run.steps) {
    out.push_back({{"step", step.step},
                   {"stage", step.stage},
                   {"status", step.status},
                   {"reason", step.reason},
                   {"error", step.error},
                   {"run", step.made_by},
                   {"folder", step.folder.string()},
                   {"seconds", known(step.seconds)},
                   {"peak_resident_bytes", known(step.peak_bytes)}});
  }
  return out;
}

json run_json(const RunRecord& run) {
  return {{"id", run.id},
          {"folder", run.folder.string()},
          {"profile", run.profile},
          {"dataset", run.dataset},
          {"state", run.state},
          {"exit_code", run.exit_code ? json(*run.exit_code) : json()},
          {"started", run.started},
          {"finished", run.finished},
          {"host", run.host},
          {"device", run.device},
          {"threads", run.threads},
          {"kdgat", run.version},
          {"command", run.command},
          {"data", run.data},
          {"requirements", run.requirements},
          {"bytes", size_on_disk(run.folder)},
          {"steps", steps_json(run)},
          {"figures", figures_json(figures(run))}};
}

std::string done_text(const RunRecord& run) {
  const auto done = std::count_if(run.steps.begin(), run.steps.end(), [](const StepRecord& step) {
    return step.status == "done" || step.is_kept();
  });
  return std::to_string(done) + "/" + std::to_string(run.steps.size());
}

int print_runs(Context& context, const std::vector<std::string>& words) {
  std::string root = "runs", dataset;
  CommandLine line(context, "kdgat runs list");
  line.value("--root", root);
  line.value("--dataset", dataset);
  line.parse(words);
  std::vector<RunRecord> runs = list_runs(root, dataset);
  if (context.json) {
    std::vector<json> all(runs.size());
    for_each_at_once(runs.size(), [&](std::size_t i) {
      look_closer(runs[i]);
      all[i] = run_json(runs[i]);
    });
    print(context, all);
    return 0;
  }
  if (runs.empty()) {
    context.err << "no runs in " << one_line(root + (dataset.empty() ? "" : "/" + dataset)) << '\n';
    return 0;
  }
  Table table;
  table.add({"run", "profile", "data set", "when", "state", "steps", "figures", "size"});
  std::vector<std::vector<std::string>> rows(runs.size());
  for_each_at_once(runs.size(), [&](std::size_t i) {
    const RunRecord& run = runs[i];
    rows[i] = {short_run(run.id),
               run.profile,
               run.dataset,
               format_when(run.started),
               run.state,
               done_text(run),
               run.headline.empty() ? headline(run, context.catalog) : run.headline,
               format_bytes(run.bytes ? *run.bytes : size_on_disk(run.folder))};
  });
  for (std::vector<std::string>& row : rows) table.add(std::move(row));
  context.out << table.text();
  return 0;
}

/// The runs named, each once. Throws Error(kUsage) if there are fewer than `least`.
std::vector<RunRecord> read_runs(const std::vector<std::string>& names, const std::string& root,
                                 std::size_t least, const std::string& verb) {
  if (names.size() < least) {
    throw Error(ExitCode::kUsage, verb + (least == 1 ? " needs a run" : " needs two runs or more"),
                "ids or folders; kdgat runs list shows them");
  }
  std::vector<RunRecord> runs;
  for (const std::string& name : names) {
    RunRecord run = read_run(find_run(name, root));
    const bool is_there = std::any_of(runs.begin(), runs.end(), [&](const RunRecord& other) {
      return fs::equivalent(other.folder, run.folder);
    });
    if (!is_there) runs.push_back(std::move(run));
  }
  return runs;
}

/// What to type to go on with a run.
std::string next_text(const RunRecord& run) {
  const std::string folder = run.folder.string();
  if (run.state == "running") return "it is running";
  if (run.state == "done") return "kdgat report " + folder + " · kdgat score LOG --run " + folder;
  return (run.command.empty() ? "the kdgat run it was started with" : run.command) +
         " continues it · kdgat report " + folder;
}

std::string joined(const std::vector<std::string>& list) {
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
    if (!words.empty()) table.add({step.step, joined(words)});
  }
  return table.text();
}

int show_run(Context& context, const std::vector<std::string>& words) {
  std::string name, root = "runs";
  CommandLine line(context, "kdgat runs show");
  line.word(name);
  line.value("--root", root);
  line.parse(words);
  const std::vector<std::string> names(name.empty() ? 0 : 1, name);
  const RunRecord run = read_runs(names, root, 1, "kdgat runs show").front();
  const std::vector<StepMemory> memory = read_run_memory(run.folder);
  if (context.json) {
    json out = run_json(run);
    out["memory"] = memory_report_json(memory);
    print(context, out);
    return 0;
  }
  Table head;
  const auto add = [&](const char* what, const std::string& text) {
    if (!text.empty()) head.add({what, text});
  };
  add("run", run.id + "  " + run.state + ", " + run.progress());
  add("when",
      format_when(run.started) + (run.seconds() < 0 ? "" : ", " + format_seconds(run.seconds())));
  add("profile", run.profile + ", data set " + run.dataset);
  add("machine", run.host + (run.device.empty() ? "" : ", " + run.device) +
                     (run.threads == 0 ? ""
                                       : ", " + std::to_string(run.threads) +
                                             (run.threads == 1 ? " thread" : " threads")) +
                     ", kdgat " + run.version);
  add("data", run.data.is_object() ? run.data.value("summary", "") : "");
  add("command", run.command);
  for (const std::string& text : requirements_text(run.requirements)) add("required", text);
  add("folder", run.folder.string() + ", " + format_bytes(size_on_disk(run.folder)));
  context.out << head.text() << '\n';

  Table steps;
  steps.add({"step", "stage", "state", "time", "why"});
  for (const StepRecord& step : run.steps) {
    steps.add({step.step, step.stage, step.status,
               step.seconds < 0 ? "" : format_seconds(step.seconds),
               step.error.empty() ? step.reason : step.error});
  }
  context.out << steps.text();
  std::vector<NamedResult> results;
  for (const StepRecord& step : run.steps) {
    results.push_back({step.step, read_result(step.folder)});
  }
  context.out << joined_tables_text(results);
  if (!memory.empty()) context.out << memory_report_text(memory) << '\n';
  context.out << files_text(run) << '\n';
  context.out << "next: " << printable(next_text(run)) << '\n';
  return 0;
}

json difference_json(const std::vector<Difference>& list) {
  json out = json::array();
  for (const Difference& one : list) {
    out.push_back({{"step", one.step}, {"name", one.name}, {"values", one.values}});
  }
  return out;
}

int compare(Context& context, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::string root = "runs";
  CommandLine line(context, "kdgat runs compare");
  line.words([&](const std::string& name) { names.push_back(name); });
  line.value("--root", root);
  line.parse(words);
  const std::vector<RunRecord> runs = read_runs(names, root, 2, "kdgat runs compare");
  std::vector<std::vector<Figure>> all;
  all.reserve(runs.size());
  for (const RunRecord& run : runs) all.push_back(figures(run));
  const std::vector<Difference> options = differences(runs);
  const std::vector<FigureRow> rows = side_by_side(all);
  if (context.json) {
    json out = {{"runs", json::array()},
                {"differences", difference_json(options)},
                {"figures", json::array()}};
    for (const RunRecord& run : runs) out["runs"].push_back(run.id);
    for (const FigureRow& row : rows) {
      json values = json::array();
      for (const auto& value : row.values) values.push_back(value ? json(*value) : json());
      out["figures"].push_back({{"step", row.figure.model},
                                {"part", row.figure.part},
                                {"name", row.figure.name},
                                {"values", std::move(values)}});
    }
    print(context, out);
    return 0;
  }
  const auto with_ids = [&](std::vector<std::string> head) {
    for (const RunRecord& run : runs) head.push_back(short_run(run.id));
    return head;
  };
  if (options.empty()) {
    context.out << "the runs have the same options, data and versions\n";
  } else {
    Table table;
    table.add(with_ids({"differs", "step"}));
    for (const Difference& one : options) {
      std::vector<std::string> cells{one.name, one.step};
      for (const std::string& value : one.values) cells.push_back(value.empty() ? "-" : value);
      table.add(std::move(cells));
    }
    context.out << table.text();
  }
  Table table;
  table.add(with_ids({"figure", "step", "part"}));
  std::size_t equal = 0;
  for (const FigureRow& row : rows) {
    if (row.is_equal() && context.verbosity <= 0) {
      ++equal;
      continue;
    }
    std::vector<std::string> cells{row.figure.label, row.figure.model, row.figure.part};
    for (const auto& value : row.values)
      cells.push_back(value ? figure_text(row.figure, *value) : "");
    table.add(std::move(cells));
  }
  if (equal < rows.size()) context.out << '\n' << table.text();
  if (equal > 0) {
    context.out << '\n'
                << equal << (equal == 1 ? " figure is" : " figures are")
                << " the same (-v shows them)\n";
  }
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
      out.push_back({"", "other runs kept steps of " + name + ": " + joined(others),
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
  line.words([&](const std::string& name) { names.push_back(name); });
  line.value("--root", root);
  line.flag("-n,--dry-run", is_dry);
  line.flag("-y,--yes", is_sure);
  line.flag("-f,--force", is_forced);
  line.parse(words);
  check_names(names);
  const std::vector<RunRecord> runs = read_runs(names, root, 1, "kdgat runs rm");
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
  if (context.json) print(context, {{"dry_run", is_dry}, {"runs", out}});
  return 0;
}

constexpr const char* kRunsHelp = R"(List, show, compare and remove runs.

  kdgat runs list                                   newest first: state, steps, figures, size
  kdgat runs list --dataset hcrl_sa --root /scratch/runs --json
  kdgat runs show 01JD                              steps and why they ran, figures, memory, files
  kdgat runs compare 01JD…K7 01JD…B2                options that differ, figures side by side
  kdgat runs rm 01JD…B2 --dry-run                   what would go
  kdgat runs rm 01JDAB --yes                        by the beginning of its id, unasked

usage: kdgat runs list [--root DIR] [--dataset NAME] [--json]
       kdgat runs show RUN [--root DIR] [--json]
       kdgat runs compare RUN RUN [RUN...] [--root DIR] [-v] [--json]
       kdgat runs rm RUN [RUN...] [-n] [-y] [-f] [--root DIR] [--json]

RUN is an id, its beginning, its short form or a folder.

  --root DIR           folder that holds all runs (default runs)
  --dataset NAME       only the runs of this data set
  -n, --dry-run        say what would be removed; change nothing
  -y, --yes            do not ask
  -f, --force          remove also runs whose steps other runs kept
  -v                   compare also figures that are the same

A run is removed by its folder, its whole id or at least six characters of it that begin no other.
By a part of its id it is asked about, and where nobody can answer only removed with --yes. A run
that a process works on is never removed, nor anything outside of the root; imported data stay.
Either all named runs are removed, or none.
)";

int runs_verb(Context& context, const std::vector<std::string>& arguments) {
  const Command command =
      read_action(context, "runs", arguments, {"list", "show", "compare", "rm"});
  if (command.name == "show") return show_run(context, command.words);
  if (command.name == "compare") return compare(context, command.words);
  if (command.name == "rm") return remove(context, command.words);
  return print_runs(context, command.words);
}

}  // namespace

Verb make_runs_verb() {
  return {"runs", "list, show, compare and remove runs", Needs::kCatalog, runs_verb,
          help_text(kRunsHelp)};
}

}  // namespace kdgat
