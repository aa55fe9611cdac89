// What several runs are, differ in and come to, side by side.
#include <algorithm>
#include <cmath>

#include "kdgat/measure.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/run/plan.h"
#include "pipeline/show/markup.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

std::string letter_markup(std::size_t run) {
  return element("a", element("span", letter(run), "class=\"letter\""),
                 "href=\"#" + letter(run) + "\"");
}

std::vector<std::string> with_letters(std::vector<std::string> columns, std::size_t runs) {
  for (std::size_t i = 0; i < runs; ++i) columns.push_back(letter_markup(i));
  return columns;
}

std::string runs_table(const std::vector<ReportRun>& runs) {
  MarkupTable table;
  table.columns = {"", "run", "profile", "data set", "", "started", "time", "steps", "figures"};
  table.caption = "The runs, and the letters that stand for them below.";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRecord& r = runs[i].record;
    table.rows.push_back({letter_markup(i),
                          element("code", escaped(short_run(r.id)), "class=\"nowrap\""),
                          escaped(r.profile), escaped(r.dataset), badge(r.state),
                          time_text(r.started), r.seconds() < 0 ? "" : format_seconds(r.seconds()),
                          escaped(r.progress()), escaped(runs[i].headline)});
  }
  return table.html();
}

std::string differences_markup(const std::vector<ReportRun>& runs) {
  std::vector<RunRecord> records;
  records.reserve(runs.size());
  for (const ReportRun& run : runs) records.push_back(run.record);
  MarkupTable table;
  table.columns = with_letters({"step", "what"}, runs.size());
  table.caption = "Options, data, devices and versions in which the runs differ.";
  std::string before;
  for (const Difference& one : differences(records)) {
    std::vector<std::string> cells{one.step == before ? "" : escaped(one.step), escaped(one.name)};
    before = one.step;
    for (const std::string& value : one.values) {
      cells.push_back(value.empty() ? "–" : escaped(value));
    }
    table.rows.push_back(std::move(cells));
  }
  return table.rows.empty() ? element("p", "Nothing: same options, data, device and versions.")
                            : table.html();
}

/// The best value of validation in bold where runs differ.
std::vector<std::string> figure_cells(const FigureRow& row) {
  const std::vector<bool> is_best = best_values(row.figure, row.values);
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const std::string text = row.values[i] ? figure_text(row.figure, *row.values[i]) : "";
    cells.push_back(is_best[i] ? element("b", text) : text);
  }
  return cells;
}

std::string figures_table(const std::vector<FigureRow>& rows, std::size_t runs,
                          const std::string& caption) {
  MarkupTable table;
  table.columns = with_letters({"step", "part", "figure"}, runs);
  table.caption = caption;
  std::string before;
  for (const FigureRow& row : rows) {
    const std::string place = row.figure.model + "/" + row.figure.part;
    std::vector<std::string> cells(2);
    if (place != before) cells = {breakable(row.figure.model), breakable(row.figure.part)};
    before = place;
    cells.push_back(escaped(row.figure.label));
    for (std::string& cell : figure_cells(row)) cells.push_back(std::move(cell));
    table.rows.push_back(std::move(cells));
  }
  return table.html();
}

/// Those that differ; the others on request.
std::string figures_markup(const std::vector<ReportRun>& runs) {
  std::vector<std::vector<Figure>> all;
  all.reserve(runs.size());
  for (const ReportRun& run : runs) all.push_back(run.figures);
  std::vector<FigureRow> rows = side_by_side(all);
  const auto equal = std::stable_partition(rows.begin(), rows.end(),
                                           [](const FigureRow& row) { return !row.is_equal(); });
  const std::vector<FigureRow> same(equal, rows.end());
  rows.erase(equal, rows.end());
  const std::string title = std::to_string(same.size()) +
                            (same.size() == 1 ? " figure is" : " figures are") + " the same";
  return figures_table(rows, runs.size(), "Figures that differ; bold is the best by validation.") +
         details(title, figures_table(same, runs.size(), "Figures that are the same."));
}

/// One series of the steps of a name, a line for each run that has it.
Chart overlay(const std::vector<ReportRun>& runs, const std::string& step,
              const std::string& name) {
  Chart chart;
  chart.has_markers = true;
  chart.title = step + ": " + label_of(name);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const ReportStep& one : runs[i].steps) {
      const auto series = one.journal.series.find(name);
      if (one.record.step != step || series == one.journal.series.end()) continue;
      chart.x = {.title = one.journal.unit, .ticks = Axis::Ticks::kWhole};
      chart.lines.push_back({letter(i), series->second, static_cast<int>(i)});
    }
  }
  if (curve_of(name) == Curve::kLoss) {
    chart.y.scale = Axis::Scale::kByValues;
  } else {
    chart.y.to = 1;
  }
  return chart;
}

/// Of the steps whose curves are not the same.
std::string overlays(const std::vector<ReportRun>& runs) {
  std::string out;
  for (const std::string& step : step_names(runs)) {
    for (const std::string& name : compared_series()) {
      const Chart chart = overlay(runs, step, name);
      const bool differ = std::any_of(
          chart.lines.begin(), chart.lines.end(),
          [&](const ChartLine& line) { return line.points != chart.lines.front().points; });
      if (differ) out += figure(chart, "A line for each run, by its letter.");
    }
  }
  return grid(out);
}

/// Of each part, the model that speaks for each run.
std::string detection_overlays(const std::vector<ReportRun>& runs) {
  std::vector<std::string> parts;
  std::vector<std::vector<Detection>> all;
  for (const ReportRun& run : runs) {
    all.push_back(detections(run));
    for (const Detection& d : all.back()) {
      if (std::find(parts.begin(), parts.end(), d.part) == parts.end()) parts.push_back(d.part);
    }
  }
  std::string out;
  for (const std::string& part : parts) {
    std::vector<Detection> shown;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string& model = runs[i].spokesman;
      Detection none;  // keeps the colours of the runs
      const auto found = std::find_if(all[i].begin(), all[i].end(), [&](const Detection& d) {
        return d.part == part && d.model == model;
      });
      shown.push_back(found == all[i].end() ? none : *found);
      names.push_back(letter(i) + ", " + model);
    }
    out += detection_figures(part, shown, names);
  }
  return grid(out);
}

}  // namespace

std::vector<std::string> step_names(const std::vector<ReportRun>& runs) {
  std::vector<std::string> steps;
  for (const ReportRun& run : runs) {
    for (const ReportStep& step : run.steps) {
      if (std::find(steps.begin(), steps.end(), step.record.step) == steps.end()) {
        steps.push_back(step.record.step);
      }
    }
  }
  return steps;
}

std::string letter(std::size_t run) {
  constexpr std::size_t kLetters = 26;
  const std::string last(1, static_cast<char>('A' + run % kLetters));
  return run < kLetters ? last : letter(run / kLetters - 1) + last;
}

std::string compare_sections(const std::vector<ReportRun>& runs) {
  return runs_table(runs) + section("differences", "What differs", differences_markup(runs)) +
         section("figures", "Figures side by side", figures_markup(runs)) +
         section("curves", "Curves", overlays(runs) + detection_overlays(runs));
}

}  // namespace kdgat
