// What each step came to: the figures by which runs are compared, as bars and as a table.
#include <algorithm>

#include "pipeline/report/report_figures.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/show/bars_svg.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

/// Bars of a measure, one for each part that it has a value on; the first has the measure's name.
void add_bars(BarChart& chart, const MeasureRow& row, const FigureSheet& sheet,
              const std::string& name) {
  bool is_more = false;
  for (std::size_t part = 0; part < std::min<std::size_t>(sheet.parts.size(), kColours); ++part) {
    const auto value = row.at(part);
    if (!value || sheet.parts[part].empty()) continue;
    Bar bar;
    bar.name = name;
    bar.value = *value;
    bar.number = figure_text(row.like, *value);
    bar.colour = static_cast<int>(part);
    bar.is_more = is_more;
    bar.words = row.label + " of " + row.model + ", " + part_name(sheet.parts[part]) + ": " +
                figure_text(row.like, *value);
    chart.bars.push_back(std::move(bar));
    is_more = true;
  }
}

/// What the bars are, where there are several of a name.
std::string bars_caption(const BarChart& chart, const FigureSheet& sheet) {
  std::string out = chart.legend.size() > 1
                        ? "What it came to on each part, in the order of the legend."
                        : "What it came to on one part.";
  const bool has_val = std::any_of(chart.legend.begin(), chart.legend.end(), [](const auto& part) {
    return part.first == part_name(kValPart);
  });
  if (has_val) out += " A model is chosen by validation alone.";
  if (sheet.parts.size() > kColours) out += " Further parts stand in the table.";
  return out;
}

/// The shares of a step in one picture; every other measure that has a value on two parts in one of
/// its own, as each has its own scale.
std::string step_bars(const std::string& model, const FigureSheet& sheet) {
  BarChart shares;
  shares.title = model;
  shares.axis = "share, more is better";
  std::string others;
  for (const MeasureRow& row : sheet.rows) {
    if (row.model != model || row.like.decimals == 0) continue;
    if (row.is_share()) {
      add_bars(shares, row, sheet, row.label);
      continue;
    }
    BarChart one;
    one.from = one.to = std::nullopt;
    add_bars(one, row, sheet, row.label);
    if (row.like.better != Better::kLess || one.bars.size() < 2) continue;
    one.title = model + ": " + row.label;
    one.axis = row.label + ", less is better";
    one.legend = bar_legend(one, sheet);
    others += figure(one.title, bars_svg(one), bars_caption(one, sheet));
  }
  shares.legend = bar_legend(shares, sheet);
  return figure(shares.title, bars_svg(shares), bars_caption(shares, sheet)) + others;
}

std::string figures_of_steps_table(const FigureSheet& sheet) {
  MarkupTable table;
  table.caption = "The figures by which runs are compared, by step and part.";
  table.columns = {"step", "figure"};
  for (const std::string& part : sheet.parts) table.columns.push_back(breakable(part_name(part)));
  for (const std::string& model : sheet.models()) {
    bool is_first = true;
    for (const MeasureRow& row : sheet.rows) {
      if (row.model != model) continue;
      std::vector<std::string>& cells = table.rows.emplace_back(
          std::vector{is_first ? breakable(model) : "", escaped(row.label)});
      for (const auto& value : row.values) {
        cells.push_back(value ? figure_text(row.like, *value) : "");
      }
      is_first = false;
    }
  }
  return table.html();
}

}  // namespace

std::string figures_section(const ReportRun& run, const std::string&) {
  const FigureSheet sheet = figure_sheet(run.figures);
  std::string charts;
  for (const std::string& model : sheet.models()) {
    const bool is_step =
        std::any_of(run.steps.begin(), run.steps.end(),
                    [&](const ReportStep& step) { return step.record.step == model; });
    if (is_step) charts += step_bars(model, sheet);  // variants: report_deltas.cpp
  }
  const std::string table = figures_of_steps_table(sheet);
  return charts.empty() ? table : grid(charts) + details("The same and more as a table", table);
}

}  // namespace kdgat
