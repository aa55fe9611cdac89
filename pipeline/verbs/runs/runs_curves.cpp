#include "pipeline/verbs/runs/runs_curves.h"

#include <algorithm>

#include "kdgat/figures.h"
#include "kdgat/measure.h"
#include "kdgat/text.h"
#include "pipeline/run/journal.h"
#include "pipeline/show/sparkline.h"
#include "pipeline/show/table.h"

namespace kdgat {

std::string loss_text(const RunRecord& run, bool unicode) {
  constexpr std::size_t kCells = 24;
  Table table;
  table.add({"step", "loss", "course", "first", "least", "last"});
  bool is_empty = true;
  for (const StepRecord& step : run.steps) {
    const StepJournal journal = read_journal(step.folder);
    for (const auto& [name, series] : journal.series) {
      if (curve_of(name) != Curve::kLoss || series.size() < 2) continue;
      std::vector<double> values;
      for (const auto& [at, value] : series) values.push_back(value);
      const auto text = [](double value) { return format_number("%.4g", value); };
      table.add({step.step, label_of(name), sparkline(values, kCells, unicode),
                 text(values.front()), text(*std::min_element(values.begin(), values.end())),
                 text(values.back())});
      is_empty = false;
    }
  }
  return is_empty ? "" : table.text();
}

}  // namespace kdgat
