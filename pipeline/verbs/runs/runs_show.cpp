// kdgat runs show: what one run is, did and came to.
#include <algorithm>
#include <ostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/memory/memory_report.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/replicates.h"
#include "pipeline/run/requirements.h"
#include "pipeline/show/sparkline.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/system/program.h"
#include "pipeline/verbs/commands/next_commands.h"
#include "pipeline/verbs/commands/run_replicates.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/runs/runs_actions.h"
#include "pipeline/verbs/runs/runs_curves.h"

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
std::string source_text(const std::optional<RunGit>& git) {
  if (!git || git->commit.empty()) return "";
  const std::string branch = git->branch.value_or("");
  return "commit " + git->commit.substr(0, 12) + (git->dirty == true ? " with changes" : "") +
         (branch.empty() ? "" : " of " + branch) + " in " + git->folder;
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

}  // namespace

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
  add("name", run.name);
  add("tags", joined(run.tags, ", "));
  for (const RunNote& note : run.notes) {
    add("note", format_when(note.time) + "  " + note.text);
  }
  add("when",
      format_when(run.started) + (run.seconds() < 0 ? "" : ", " + format_seconds(run.seconds())));
  add("profile", run.profile + ", data set " + run.dataset);
  add("machine", machine_text(run));
  add("versions", "kdgat " + run.version + (run.libtorch.empty() ? "" : ", " + run.libtorch));
  add("source", source_text(run.git));
  add("data", run.data ? run.data->summary : "");
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
               step.seconds ? format_seconds(*step.seconds) : "",
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

}  // namespace kdgat
