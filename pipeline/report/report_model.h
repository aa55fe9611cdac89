// What a report shows of a run: everything its folder and those of its kept steps hold, read once.
// Makes no markup.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/memory/memory_report.h"
#include "pipeline/run/run_figures.h"
#include "pipeline/run/run_record.h"
#include "pipeline/run/step_metrics.h"

namespace kdgat {

struct ReportStep {
  StepRecord record;
  StepFiles files;
  StepJournal journal;
};

struct ReportRun {
  RunRecord record;
  int64_t seed = -1;  ///< -1 = not known
  std::string group;  ///< id of the run of replicates that it is of; "" = it stands alone
  std::string name;   ///< what its run of replicates or itself is called; "" = by its id
  std::vector<ReportStep> steps;
  std::vector<StepMemory> memory;
  std::vector<Figure> figures;
  std::string spokesman;             ///< the step that speaks for the run
  std::string headline;              ///< what it says
  std::vector<nlohmann::json> data;  ///< inspect_data() of each data folder that was read
  std::vector<std::string> missing;  ///< data folders that are gone or cannot be read
};

/// `catalog`: says which stage speaks for a run. Throws Error(kData) if run.json cannot be read.
ReportRun read_report(const std::filesystem::path& run_folder, const PluginCatalog& catalog);

/// Counts of a detector's decisions on one part, and the points of its curves.
struct Detection : Decision {
  std::optional<DecisionCounts> counts;      ///< none in runs that did not record them
  std::optional<DecisionCounts> calibrated;  ///< by the files' own thresholds, where there are
  std::vector<double> tp, fp;  ///< at falling thresholds, from (0, 0) on; empty if not recorded
  double attacks() const { return tp.empty() ? 0 : tp.back(); }
  double benign() const { return fp.empty() ? 0 : fp.back(); }
};

/// The step whose model it is, by the longest name that fits: what stands behind a space in the
/// name of a model says what was done with it. "" if there is none.
std::string step_of(const std::string& model, const std::vector<ReportStep>& steps);

/// Of every step that evaluated models: validation first, the models of a part in the order in
/// which they were trained, each before its variants ("classifier", "classifier rewired").
std::vector<Detection> detections(const ReportRun& run);

}  // namespace kdgat
