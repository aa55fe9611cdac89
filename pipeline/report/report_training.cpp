// Curves of the steps that train.
#include <algorithm>
#include <cmath>

#include "kdgat/text.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

using Series = std::vector<std::pair<double, double>>;

/// Shares of one, where more is better.
bool is_share(const std::string& name) {
  return name == "val_auc" || name == "val_f1" || name == "val_accuracy";
}

bool is_error(const std::string& name) { return name == "val_mae" || name == "val_rmse"; }

/// Neither a curve to judge by nor a part of the loss.
bool is_bookkeeping(const std::string& name) {
  return name == "val_threshold" || name == "val_n_samples";
}

Chart chart_of(const std::string& title, const StepJournal& journal, double best) {
  Chart chart;
  chart.title = title;
  chart.x = {.title = journal.unit, .ticks = Axis::Ticks::kWhole};
  if (best > 0) chart.rules.push_back({best, "best: " + std::to_string(std::lround(best))});
  return chart;
}

void add(Chart& chart, const StepJournal& journal, const std::string& name) {
  const auto series = journal.series.find(name);
  if (series == journal.series.end()) return;
  chart.lines.push_back({figure_name(name), series->second, static_cast<int>(chart.lines.size())});
}

std::string rate_text(const Series& rates) {
  return format_number("Learning rate %.4g throughout.", rates.front().second);
}

bool is_constant(const Series& series) {
  return std::all_of(series.begin(), series.end(),
                     [&](const auto& point) { return point.second == series.front().second; });
}

std::string step_markup(const ReportStep& step) {
  const StepJournal& journal = step.journal;
  const double best = best_epoch(step.files, journal);
  Chart loss = chart_of("Loss", journal, best);
  loss.y.scale = Axis::Scale::kByValues;
  add(loss, journal, "train_loss");
  add(loss, journal, "val_loss");
  Chart shares = chart_of("Validation", journal, best);
  shares.y.to = 1;
  Chart errors = chart_of("Error on validation", journal, best);
  Chart terms = chart_of("Terms of the validation loss", journal, best);
  terms.y.scale = Axis::Scale::kByValues;
  for (const auto& [name, series] : journal.series) {
    if (is_share(name)) {
      add(shares, journal, name);
    } else if (is_error(name)) {
      add(errors, journal, name);
    } else if (name.rfind("val_", 0) == 0 && name != "val_loss" && !is_bookkeeping(name)) {
      add(terms, journal, name);
    }
  }
  std::string pictures = figure(loss) + figure(shares) + figure(errors) + figure(terms);
  std::string note;
  if (const auto rates = journal.series.find("lr"); rates != journal.series.end()) {
    if (is_constant(rates->second)) {
      note = rate_text(rates->second);
    } else {
      Chart rate = chart_of("Learning rate", journal, best);
      rate.y.scale = Axis::Scale::kByValues;
      add(rate, journal, "lr");
      rate.lines.front().name = "learning rate";
      pictures += figure(rate);
    }
  }
  const std::string summary = word(step.files.result, "summary");
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
