// kdgat runs rm: removes runs, all that are named or none.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/replicates.h"
#include "pipeline/show/text.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/runs/runs_actions.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

}  // namespace

int remove_runs(Context& context, const std::vector<std::string>& words) {
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

}  // namespace kdgat
