// The part of a report that shows a sweep: a line for each trial through what was tried and what it
// came to.
#include <algorithm>

#include "kdgat/text.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/markup.h"
#include "pipeline/show/parallel_svg.h"
#include "pipeline/system/json_file.h"
#include "pipeline/tune/sweep.h"
#include "pipeline/tune/sweep_table.h"

namespace kdgat {

using nlohmann::json;

std::string sweep_section(const ReportRun& run, const std::string&) {
  const json record = read_json(run.record.folder / kSweepFile);
  if (!record.is_object() || !below(record, "trials").is_array()) return "";
  const std::string metric = word(record, "metric"), best = word(record, "best");
  std::vector<ParallelAxis> axes;
  for (const std::string& key : tried_keys(record)) axes.push_back({key});
  const std::size_t tried = axes.size();
  axes.push_back({"memory", true});
  axes.push_back({"seconds"});
  axes.push_back({metric});
  const auto text = [](const json& value) {
    return value.is_number() ? format_number("%.9g", value.get<double>()) : "";
  };
  std::vector<ParallelItem> items;
  for (const json& trial : record.at("trials")) {
    ParallelItem item;
    for (std::size_t i = 0; i < tried; ++i) {
      item.values.push_back(word(below(trial, "values"), axes[i].title));
    }
    const double needed = number(trial, "needed", 0), seconds = number(trial, "seconds", 0);
    item.values.push_back(needed > 0 ? text(needed) : "");
    item.values.push_back(seconds > 0 ? text(seconds) : "");
    item.values.push_back(text(below(trial, "value")));
    item.is_chosen = word(trial, "name") == best && !best.empty();
    item.is_dashed = trial.contains("stopped_at");
    item.words = word(trial, "name") + ": " + word(trial, "state") +
                 (item.values.back().empty() ? "" : ", " + metric + " " + item.values.back());
    items.push_back(std::move(item));
  }
  const std::string picture = parallel_svg("Trials and their results", axes, items);
  return figure("Trials and their results", picture,
                "Each line is a trial; coloured: " + (best.empty() ? "none" : best) +
                    ", chosen by " + metric + " of validation; dashed: stopped early.") +
         details("All trials", element("pre", escaped(trials_table(record)))) +
         element("pre", escaped(best_lines(record)));
}

}  // namespace kdgat
