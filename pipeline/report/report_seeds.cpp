// Runs that differ in the seed alone: what they come to on the mean, and how far they spread.
#include <algorithm>
#include <map>

#include "pipeline/report/report_sections.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/replicates.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

struct Grouped {
  std::vector<SeedGroup> groups;
  std::vector<FigureRow> rows;
};

std::string letters_of(const SeedGroup& group) {
  std::string out;
  for (const std::size_t run : group.runs) out += (out.empty() ? "" : " ") + letter(run);
  return out;
}

/// Runs of different options may have one name.
void tell_apart(std::vector<SeedGroup>& groups) {
  std::map<std::string, int> times;
  for (const SeedGroup& group : groups) ++times[group.name];
  for (SeedGroup& group : groups) {
    if (times.at(group.name) > 1) group.name += " (" + letters_of(group) + ")";
  }
}

/// A heading that is folded where the name is long.
std::string group_heading(const std::string& text) {
  return element("div", breakable(text), "class=\"name\"");
}

/// "usual: A B C; fast: D E F"
std::string groups_in_words(const std::vector<SeedGroup>& groups) {
  std::string out;
  for (const SeedGroup& group : groups) {
    out += (out.empty() ? "" : "; ") + group.name + ": " + letters_of(group);
  }
  return out;
}

Grouped grouped_runs(const std::vector<ReportRun>& runs) {
  NamedRuns named;
  std::vector<std::vector<Figure>> figures;
  for (const ReportRun& run : runs) {
    named.runs.push_back(run.record);
    named.seeds.push_back(run.seed);
    named.group_of.push_back(run.group);
    named.names.push_back(run.name.empty() ? short_run(run.record.id) : run.name);
    figures.push_back(run.figures);
  }
  Grouped out{group_by_seed(named, differences(named.runs)), side_by_side(figures)};
  tell_apart(out.groups);
  return out;
}

/// Those of `rows` that a table can show: of the others -v of `kdgat runs compare` tells.
bool is_shown(const FigureRow& row) { return row.figure.place != 0 || row.figure.headline != 0; }

std::string seeds_table(const Grouped& all) {
  MarkupTable table;
  table.columns = {"step", "part", "figure"};
  table.caption =
      "Mean ± standard deviation over seeds; difference to the first column, paired by seed, with "
      "its 95 % interval (Student t). Bold is the best by validation. Runs by their letters: " +
      escaped(groups_in_words(all.groups)) + ".";
  for (const SeedGroup& group : all.groups) {
    table.columns.push_back(group_heading(group.name + ", n=" + std::to_string(group.runs.size())));
  }
  for (std::size_t i = 1; i < all.groups.size(); ++i) {
    table.columns.push_back(group_heading(all.groups[i].name + " less " + all.groups[0].name));
  }
  std::string before;
  for (const FigureRow& row : all.rows) {
    if (!is_shown(row) || is_shared(row, all.groups)) continue;
    const std::string place = row.figure.model + "/" + row.figure.part;
    std::vector<std::string> cells(2);
    if (place != before) cells = {breakable(row.figure.model), breakable(row.figure.part)};
    before = place;
    cells.push_back(escaped(row.figure.label));
    std::vector<std::optional<double>> means;
    std::vector<std::string> texts;
    for (const SeedGroup& group : all.groups) {
      const auto spread = spread_of(row, group);
      means.push_back(spread ? std::optional(spread->mean) : std::nullopt);
      texts.push_back(spread ? escaped(spread_text(row.figure, *spread)) : "");
    }
    const std::vector<bool> is_best = best_values(row.figure, means);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      cells.push_back(is_best[i] ? element("b", texts[i]) : texts[i]);
    }
    const BySeed base = values_of(row, all.groups.front());
    for (std::size_t i = 1; i < all.groups.size(); ++i) {
      const auto paired = paired_difference(base, values_of(row, all.groups[i]));
      cells.push_back(paired ? element("span", escaped(difference_text(row.figure, *paired)),
                                       "class=\"nowrap\"")
                             : "");
    }
    table.rows.push_back(std::move(cells));
  }
  return table.html();
}

/// The mean of a series over the runs of a group, with a band of one standard deviation; of those
/// places at which at least two runs are.
void add_band(Chart& chart, const std::vector<ReportRun>& runs, const SeedGroup& group,
              const std::string& step, const std::string& name, int colour) {
  std::map<double, std::vector<double>> values;
  for (const std::size_t run : group.runs) {
    for (const ReportStep& one : runs[run].steps) {
      const auto series = one.journal.series.find(name);
      if (one.record.step != step || series == one.journal.series.end()) continue;
      chart.x = {.title = one.journal.unit, .ticks = Axis::Ticks::kWhole};
      for (const auto& [x, y] : series->second) values[x].push_back(y);
    }
  }
  ChartLine line{group.name, {}, colour};
  ChartArea area{{}, colour};
  for (const auto& [x, at] : values) {
    const auto spread = spread_of(at);
    if (!spread || !spread->deviation) continue;
    line.points.emplace_back(x, spread->mean);
    area.places.push_back(
        {x, spread->mean - *spread->deviation, spread->mean + *spread->deviation});
  }
  if (line.points.empty()) return;
  chart.lines.push_back(std::move(line));
  chart.areas.push_back(std::move(area));
}

std::string bands(const std::vector<ReportRun>& runs, const std::vector<SeedGroup>& groups) {
  std::string out;
  for (const std::string& step : step_names(runs)) {
    for (const std::string& name : compared_series()) {
      Chart chart;
      chart.has_markers = true;
      chart.title = step + ": " + label_of(name);
      for (std::size_t i = 0; i < groups.size(); ++i) {
        add_band(chart, runs, groups[i], step, name, static_cast<int>(i));
      }
      out += figure(chart, "Mean over seeds, and one standard deviation around it.");
    }
  }
  return grid(out);
}

}  // namespace

std::string seeds_section(const std::vector<ReportRun>& runs) {
  const Grouped all = grouped_runs(runs);
  std::size_t most = 0;
  for (const SeedGroup& group : all.groups) most = std::max(most, group.runs.size());
  if (most < 2) return "";
  return section("seeds", "Over " + std::to_string(most) + " seeds",
                 seeds_table(all) + bands(runs, all.groups));
}

}  // namespace kdgat
