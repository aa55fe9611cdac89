// kdgat runs compare: in what runs differ, and their figures side by side; of runs that differ in
// the seed alone the mean, the spread and the paired difference.
#include <algorithm>
#include <ostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/replicates.h"
#include "pipeline/show/table_format.h"
#include "pipeline/show/text.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/runs/compared_runs.h"
#include "pipeline/verbs/runs/runs_actions.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kLegend =
    "mean ± standard deviation over n seeds; difference to the first, paired by seed, with its 95 "
    "% "
    "interval (Student t)";

constexpr std::size_t kLegendWidth = 80;

Compared read_compared(const std::vector<std::string>& names, const std::string& root,
                       bool is_by_run) {
  Compared out;
  out.named = read_named_runs(find_runs(names, root));
  if (out.named.runs.size() < 2) {
    throw Error(ExitCode::kUsage, "kdgat runs compare needs two runs or more",
                "ids, names or folders; kdgat runs list shows them");
  }
  std::vector<std::vector<Figure>> all;
  for (const RunRecord& run : out.named.runs) all.push_back(figures(run));
  out.options = differences(out.named.runs);
  out.rows = side_by_side(all);
  out.groups = group_by_seed(out.named, out.options);
  const bool has_replicates = std::any_of(out.named.group_of.begin(), out.named.group_of.end(),
                                          [](const std::string& group) { return !group.empty(); });
  const bool has_several =
      out.groups.size() > 1 &&
      std::any_of(out.groups.begin(), out.groups.end(),
                  [](const SeedGroup& group) { return group.runs.size() > 1; });
  out.is_grouped = !is_by_run && (has_replicates || has_several);
  return out;
}

// ---- JSON

json spread_json(const std::optional<Spread>& spread) {
  if (!spread) return {};
  return {{"n", spread->n},
          {"mean", spread->mean},
          {"deviation", spread->deviation ? json(*spread->deviation) : json()}};
}

json paired_json(const std::optional<PairedDifference>& paired) {
  if (!paired) return {};
  return {{"n", paired->n},
          {"mean", paired->mean},
          {"low", paired->low ? json(*paired->low) : json()},
          {"high", paired->high ? json(*paired->high) : json()}};
}

json compared_json(const Compared& all) {
  json out = {{"runs", json::array()}, {"differences", json::array()}, {"figures", json::array()}};
  for (const RunRecord& run : all.named.runs) out["runs"].push_back(run.id);
  for (const Difference& one : all.options) {
    out["differences"].push_back({{"step", one.step}, {"name", one.name}, {"values", one.values}});
  }
  for (const FigureRow& row : all.rows) {
    json values = json::array();
    for (const auto& value : row.values) values.push_back(value ? json(*value) : json());
    json item = {{"step", row.figure.model},
                 {"part", row.figure.part},
                 {"name", row.figure.name},
                 {"values", std::move(values)}};
    if (all.is_grouped) {
      const BySeed base = values_of(row, all.groups.front());
      for (const SeedGroup& group : all.groups) {
        item["groups"].push_back(spread_json(spread_of(row, group)));
        item["to_first"].push_back(paired_json(paired_difference(base, values_of(row, group))));
      }
    }
    out["figures"].push_back(std::move(item));
  }
  if (!all.is_grouped) return out;
  for (const SeedGroup& group : all.groups) {
    json runs = json::array();
    for (const std::size_t run : group.runs) runs.push_back(all.named.runs[run].id);
    out["groups"].push_back(
        {{"name", group.name}, {"runs", std::move(runs)}, {"seeds", group.seeds}});
  }
  return out;
}

}  // namespace

int compare_runs(Context& context, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::string root = "runs", form = "text";
  bool is_by_run = false;
  CommandLine line(context, "kdgat runs compare");
  line.words([&](const std::string& name) { names.push_back(name); }, Offer::kRuns);
  line.value("--root", root, Offer::kFiles);
  line.value("--format", form, Offer(table_formats()));
  line.flag("--by-run", is_by_run);
  line.parse(words);
  const TableFormat format = table_format(form);
  const Compared all = read_compared(names, root, is_by_run);
  if (context.json) {
    print_json(context, "kdgat.runs.compare", compared_json(all));
    return 0;
  }
  std::vector<const FigureRow*> rows;
  for (const FigureRow& row : all.rows) {
    const bool is_same =
        all.is_grouped && all.groups.size() > 1 ? is_shared(row, all.groups) : row.is_equal();
    if (!is_same || context.verbosity > 0) rows.push_back(&row);
  }
  const std::size_t equal = all.rows.size() - rows.size();
  const std::string table = formatted(table_of(all, rows, format), format);
  if (format != TableFormat::kText) {
    context.out << table;
    if (all.is_grouped && format == TableFormat::kLatex) context.out << "% " << kLegend << '\n';
    if (all.is_grouped && format == TableFormat::kMarkdown) {
      context.out << '\n' << kLegend << '\n';
    }
    return 0;
  }
  context.out << differences_text(all);
  if (!rows.empty()) context.out << '\n' << table;
  if (!rows.empty()) {
    const std::string legend = std::string(all.is_grouped ? kLegend : "") +
                               (all.is_grouped ? "; " : "") + "*: the best by validation data";
    context.out << '\n' << wrapped(legend, 0, kLegendWidth) << '\n';
  }
  if (equal > 0) {
    context.out << '\n'
                << equal << (equal == 1 ? " figure is" : " figures are")
                << " the same (-v shows them)\n";
  }
  return 0;
}

}  // namespace kdgat
