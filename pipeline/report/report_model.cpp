#include "pipeline/report/report_model.h"

#include <algorithm>
#include <set>

#include "kdgat/kinds.h"
#include "pipeline/data/data.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/system/record.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kVal = "val";

/// Folders of the graph data that the steps read.
std::set<std::string> data_folders(const std::vector<ReportStep>& steps) {
  std::set<std::string> out;
  for (const ReportStep& step : steps) {
    for (const auto& [port, inputs] : step.files.config.inputs) {
      for (const StepInput& input : inputs) {
        if (input.kind == kind::kGraphs && !input.path.empty()) out.insert(input.path);
      }
    }
  }
  return out;
}

void read_data(ReportRun& run) {
  for (const std::string& folder : data_folders(run.steps)) {
    if (find_prepared(folder)) {
      run.data.push_back(inspect_data(folder, json::object(), {}, {}));
    } else {
      run.missing.push_back(folder);
    }
  }
}

std::vector<double> numbers(const json& from) {
  std::vector<double> out{0};
  if (!from.is_array()) return {};
  for (const json& value : from) {
    if (!value.is_number()) return {};
    out.push_back(value.get<double>());
  }
  return out;
}

/// A model on a part, in curves.json: decisions counted at its thresholds, and at others.
struct PartCurve {
  json counts, calibrated, tp, fp;
  static auto keys() {
    using C = PartCurve;
    return std::tuple{key("counts", &C::counts), key("calibrated", &C::calibrated),
                      key("tp", &C::tp), key("fp", &C::fp)};
  }
};

Detection detection(const Decision& decision, const json& curves) {
  const auto curve = record::read<PartCurve>(below(below(curves, decision.model), decision.part));
  Detection out{decision, read_counts(curve.counts), read_counts(curve.calibrated), {}, {}};
  out.tp = numbers(curve.tp);
  out.fp = numbers(curve.fp);
  if (out.tp.size() != out.fp.size()) out.tp = out.fp = {};
  return out;
}

}  // namespace

ReportRun read_report(const fs::path& run_folder, const PluginCatalog& catalog) {
  ReportRun run;
  run.record = read_run(run_folder);
  for (const StepRecord& step : run.record.steps) {
    run.steps.push_back({step, read_step_files(step.folder), read_journal(step.folder)});
  }
  run.memory = read_run_memory(run_folder);
  run.figures = figures(run.record);
  run.spokesman = spokesman(run.record, run.figures, catalog);
  run.headline = headline(run.record, catalog);
  read_data(run);
  return run;
}

std::string step_of(const std::string& model, const std::vector<ReportStep>& steps) {
  std::string out;
  for (const ReportStep& step : steps) {
    const std::string& name = step.record.step;
    const bool fits = model == name || model.starts_with(name + " ");
    if (fits && name.size() > out.size()) out = name;
  }
  return out;
}

std::vector<Detection> detections(const ReportRun& run) {
  std::vector<Detection> out;
  for (const ReportStep& evaluation : run.steps) {
    const std::vector<Decision> all =
        read_decisions(evaluation.files.metrics, evaluation.files.figures);
    std::set<std::string> parts;
    for (const Decision& one : all) parts.insert(one.part);
    const auto add_part = [&](const std::string& part) {
      for (const ReportStep& step : run.steps) {
        for (const Decision& one : all) {
          if (one.part != part || step_of(one.model, run.steps) != step.record.step) continue;
          out.push_back(detection(one, evaluation.files.curves));
        }
      }
    };
    if (parts.erase(kVal) > 0) add_part(kVal);
    for (const std::string& part : parts) add_part(part);
  }
  return out;
}

}  // namespace kdgat
