// The part of a report that shows a sweep: a line for each trial through what was tried and what it
// came to.
#include <algorithm>

#include "kdgat/text.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/show/markup.h"
#include "pipeline/show/parallel_svg.h"
#include "pipeline/system/json_file.h"
#include "pipeline/tune/sweep.h"
#include "pipeline/tune/sweep_table.h"

namespace kdgat {

std::string sweep_section(const ReportRun& run, const std::string&) {
  const auto sweep = record::read<SavedSweep>(read_json(run.record.folder / kSweepFile));
  if (sweep.trials.empty()) return "";
  std::vector<ParallelAxis> axes;
  for (const std::string& key : tried_keys(sweep)) axes.push_back({key});
  const std::size_t tried = axes.size();
  axes.push_back({"memory", true});
  axes.push_back({"seconds"});
  axes.push_back({sweep.metric});
  const auto text = [](double value) { return format_number("%.9g", value); };
  std::vector<ParallelItem> items;
  for (const SavedTrial& trial : sweep.trials) {
    ParallelItem item;
    for (std::size_t i = 0; i < tried; ++i) {
      const auto value = trial.values.find(axes[i].title);
      item.values.push_back(value == trial.values.end() ? "" : value->second);
    }
    item.values.push_back(trial.needed > 0 ? text(static_cast<double>(trial.needed)) : "");
    item.values.push_back(trial.seconds > 0 ? text(trial.seconds) : "");
    item.values.push_back(trial.value ? text(*trial.value) : "");
    item.is_chosen = sweep.is_best(trial);
    item.is_dashed = trial.stopped_at.has_value();
    item.words = trial.name + ": " + trial.state +
                 (trial.value ? ", " + sweep.metric + " " + item.values.back() : "");
    items.push_back(std::move(item));
  }
  const std::string picture = parallel_svg("Trials and their results", axes, items);
  return figure("Trials and their results", picture,
                "Each line is a trial; coloured: " + sweep.best.value_or("none") + ", chosen by " +
                    sweep.metric + " of validation; dashed: stopped early.") +
         details("All trials", element("pre", escaped(trials_table(sweep)))) +
         element("pre", escaped(best_lines(sweep)));
}

}  // namespace kdgat
