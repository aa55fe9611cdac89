// Curves of the steps that train.
#include <algorithm>
#include <cmath>
#include <map>

#include "kdgat/measure.h"
#include "kdgat/text.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

Chart chart_of(const std::string& title, const StepJournal& journal, double best) {
  Chart chart;
  chart.has_markers = true;
  chart.title = title;
  chart.x = {.title = journal.unit, .ticks = Axis::Ticks::kWhole};
  if (best > 0) chart.rules.push_back({best, "best: " + std::to_string(std::lround(best))});
  return chart;
}

void add(Chart& chart, const std::string& name, const Series& series) {
  chart.lines.push_back({name, series, static_cast<int>(chart.lines.size())});
}

std::string rate_text(const Series& rates) {
  return format_number("Learning rate %.4g throughout.", rates.front().second);
}

bool is_constant(const Series& series) {
  return std::all_of(series.begin(), series.end(),
                     [&](const auto& point) { return point.second == series.front().second; });
}

/// What is drawn of a kind of curves, and what the upright line is.
std::string caption_of(Curve curve, double best) {
  std::string out;
  switch (curve) {
    case Curve::kLoss:
      out = "What training minimises, and the same on validation.";
      break;
    case Curve::kShare:
      out = "Figures of validation: more is better.";
      break;
    case Curve::kError:
      out = "Errors on validation: less is better.";
      break;
    case Curve::kTerm:
      out = "What the loss on validation is the sum of, before weights.";
      break;
    default:
      out = "The step of the optimiser.";
  }
  return out + (best > 0 ? " Dashed: the best one, whose weights were kept." : "");
}

/// By the name of the series; of one that has no chart of its own, by which way its figure is
/// better.
Curve curve_in(const std::vector<Figure>& listed, const std::string& series) {
  const Curve curve = curve_of(series);
  const auto figure = std::find_if(listed.begin(), listed.end(), [&](const Figure& one) {
    return one.part.empty() && one.name == series;
  });
  if (curve != Curve::kTerm || figure == listed.end()) return curve;
  return figure->better == Better::kMore   ? Curve::kShare
         : figure->better == Better::kLess ? Curve::kError
                                           : curve;
}

std::string step_markup(const ReportStep& step) {
  const StepJournal& journal = step.journal;
  const double best = best_epoch(step.files, journal);
  std::map<Curve, Chart> charts = {
      {Curve::kLoss, chart_of("Loss", journal, best)},
      {Curve::kShare, chart_of("Validation", journal, best)},
      {Curve::kError, chart_of("Error on validation", journal, best)},
      {Curve::kTerm, chart_of("Terms of the validation loss", journal, best)}};
  for (const Curve scaled : {Curve::kLoss, Curve::kTerm}) {
    charts.at(scaled).y.scale = Axis::Scale::kByValues;
  }
  charts.at(Curve::kShare).y.to = 1;
  const std::vector<Figure> listed = listed_figures(step.files.figures);
  std::string rate_picture, note;
  for (const auto& [name, series] : journal.series) {
    const Curve curve = curve_in(listed, name);
    if (const auto chart = charts.find(curve); chart != charts.end()) {
      add(chart->second, label_of(name), series);
    } else if (curve == Curve::kLearningRate && is_constant(series)) {
      note = rate_text(series);
    } else if (curve == Curve::kLearningRate) {
      Chart rate = chart_of("Learning rate", journal, best);
      rate.y.scale = Axis::Scale::kByValues;
      add(rate, "learning rate", series);
      rate_picture = figure(rate, caption_of(curve, best));
    }
  }
  std::string pictures;
  for (const auto& [curve, chart] : charts) pictures += figure(chart, caption_of(curve, best));
  pictures += rate_picture;
  const std::string summary = step.files.result.get<StageResult>().summary.value_or("");
  return element("h3", escaped(step.record.step)) +
         (summary.empty() ? "" : element("p", escaped(summary))) +
         (note.empty() ? "" : element("p", note, "class=\"muted\"")) + grid(pictures);
}

}  // namespace

std::string training_section(const ReportRun& run, const std::string&) {
  std::string out;
  for (const ReportStep& step : run.steps) {
    if (!step.journal.series.empty()) out += step_markup(step);
  }
  return out;
}

}  // namespace kdgat
