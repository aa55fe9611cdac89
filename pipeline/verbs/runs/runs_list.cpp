// kdgat runs list: a line a run, the newest first.
#include <algorithm>
#include <ostream>
#include <set>

#include "pipeline/cli/command_line.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/replicates.h"
#include "pipeline/run/run_figures.h"
#include "pipeline/run/run_index.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/system/parallel.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/runs/runs_actions.h"
#include "pipeline/verbs/runs/runs_words.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string done_text(const RunRecord& run) {
  const auto done = std::count_if(run.steps.begin(), run.steps.end(), [](const StepRecord& step) {
    return step.status == "done" || step.is_kept();
  });
  return std::to_string(done) + "/" + std::to_string(run.steps.size());
}

/// The folders of the replicates of those that are runs of replicates, which have no steps.
std::vector<fs::path> replicates_of(const RunRecord& run) {
  std::vector<fs::path> out;
  if (!run.steps.empty()) return out;
  for (const Replicate& one : read_replicates(run.folder)) {
    if (!one.run.empty()) out.push_back(replicate_folder(run.folder, one));
  }
  return out;
}

/// Without replicates whose run of replicates is listed: that one's row stands for them.
std::vector<const RunRecord*> folded(std::vector<const RunRecord*> runs) {
  std::set<fs::path> hidden;
  for (const RunRecord* run : runs) {
    for (const fs::path& folder : replicates_of(*run)) hidden.insert(folder);
  }
  if (hidden.empty()) return runs;
  std::erase_if(runs, [&](const RunRecord* run) {
    return hidden.contains(fs::weakly_canonical(run->folder));
  });
  return runs;
}

/// Of a run of replicates with what they hold.
uint64_t bytes_of(const RunRecord& run) {
  const std::vector<fs::path> replicates = replicates_of(run);
  uint64_t out = run.bytes && replicates.empty() ? *run.bytes : size_on_disk(run.folder);
  for (const fs::path& folder : replicates) out += size_on_disk(folder);
  return out;
}

std::string steps_text(const RunRecord& run) {
  if (!run.steps.empty()) return done_text(run);
  const std::vector<Replicate> all = read_replicates(run.folder);
  if (all.empty()) return done_text(run);
  const auto done = std::count_if(all.begin(), all.end(),
                                  [](const Replicate& one) { return one.exit_code == 0; });
  return std::to_string(done) + "/" + std::to_string(all.size()) + " seeds";
}

struct ListColumn {
  const char* heading;
  std::string (*text)(const RunRecord& run, const PluginCatalog& catalog);
  bool is_optional = false;  ///< left out where no run has anything for it
};

const std::vector<ListColumn>& list_columns() {
  using Run = const RunRecord&;
  using Catalog = const PluginCatalog&;
  static const std::vector<ListColumn> columns = {
      {"run", [](Run run, Catalog) { return short_run(run.id); }},
      {"name", [](Run run, Catalog) { return run.name; }, true},
      {"tags", [](Run run, Catalog) { return joined(run.tags, ", "); }, true},
      {"profile", [](Run run, Catalog) { return run.profile; }},
      {"data set", [](Run run, Catalog) { return run.dataset; }},
      {"when", [](Run run, Catalog) { return format_when(run.started); }},
      {"state", [](Run run, Catalog) { return run.state; }},
      {"steps", [](Run run, Catalog) { return steps_text(run); }},
      {"figures",
       [](Run run, Catalog all) { return run.headline ? *run.headline : headline(run, all); }},
      {"size", [](Run run, Catalog) { return format_bytes(bytes_of(run)); }}};
  return columns;
}

std::string table_text(const std::vector<const RunRecord*>& runs, const PluginCatalog& catalog) {
  const std::vector<ListColumn>& columns = list_columns();
  std::vector<std::vector<std::string>> rows(runs.size() + 1);
  for (const ListColumn& column : columns) rows[0].emplace_back(column.heading);
  for_each_at_once(runs.size(), [&](std::size_t i) {
    for (const ListColumn& column : columns) {
      rows[i + 1].push_back(column.text(*runs[i], catalog));
    }
  });
  Table table;
  std::vector<bool> is_shown(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    is_shown[c] = !columns[c].is_optional ||
                  std::any_of(rows.begin() + 1, rows.end(),
                              [&](const std::vector<std::string>& row) { return !row[c].empty(); });
  }
  for (std::vector<std::string>& row : rows) {
    std::vector<std::string> shown;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (is_shown[c]) shown.push_back(std::move(row[c]));
    }
    table.add(std::move(shown));
  }
  return table.text();
}

/// Each as `kdgat runs show` has it: from its files, not from the index.
json runs_json(const std::vector<const RunRecord*>& runs) {
  std::vector<json> all(runs.size());
  for_each_at_once(runs.size(),
                   [&](std::size_t i) { all[i] = run_json(read_run(runs[i]->folder)); });
  return all;
}

}  // namespace

int print_runs(Context& context, const std::vector<std::string>& words) {
  RunWords wanted;
  CommandLine line(context, "kdgat runs list");
  wanted.declare(line);
  line.parse(words);
  RunIndex index(wanted.root);
  const std::vector<std::size_t> found = matching_runs(index, wanted.filter);
  index.save();
  std::vector<const RunRecord*> runs;
  runs.reserve(found.size());
  for (const std::size_t run : found) runs.push_back(&index.runs()[run]);
  if (context.json) {
    print_json(context, "kdgat.runs.list", {{"runs", runs_json(runs)}});
  } else if (runs.empty()) {
    tell_no_runs(context, wanted, index.runs().size());
  } else {
    context.out << table_text(folded(std::move(runs)), context.catalog);
  }
  return 0;
}

}  // namespace kdgat
