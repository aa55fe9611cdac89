#include "pipeline/report/report_model.h"

#include <algorithm>
#include <set>

#include "pipeline/data/data.h"
#include "pipeline/show/json_lookup.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Folders of the graph data that the steps read.
std::set<std::string> data_folders(const std::vector<ReportStep>& steps) {
  std::set<std::string> out;
  for (const ReportStep& step : steps) {
    const json inputs = below(step.files.config, "inputs");
    for (const auto& [port, items] : inputs.items()) {
      for (const json& item : items) {
        const json path = below(item, "path");
        if (below(item, "kind") == "graphs" && path.is_string()) out.insert(path);
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

Detection detection(const std::string& model, const std::string& part, const json& core,
                    const json& curves) {
  const json curve = below(below(curves, model), part);
  Detection out{model, part, core, below(curve, "counts"), below(curve, "calibrated"), {}, {}};
  out.tp = numbers(below(curve, "tp"));
  out.fp = numbers(below(curve, "fp"));
  if (out.tp.size() != out.fp.size()) out.tp = out.fp = {};
  return out;
}

}  // namespace

ReportRun read_report(const fs::path& run_folder) {
  ReportRun run;
  run.record = read_run(run_folder);
  for (const StepRecord& step : run.record.steps) {
    run.steps.push_back({step, read_step_files(step.folder), read_journal(step.folder)});
  }
  run.memory = read_run_memory(run_folder);
  run.figures = figures(run.record);
  read_data(run);
  return run;
}

std::vector<Detection> detections(const ReportRun& run) {
  std::vector<Detection> out;
  for (const ReportStep& evaluation : run.steps) {
    const json& metrics = evaluation.files.metrics;
    const json tests = below(metrics, "test");
    std::set<std::string> parts;
    for (const auto& [model, by_part] : tests.items()) {
      for (const auto& [part, value] : by_part.items()) parts.insert(part);
    }
    const auto add_part = [&](const std::string& part, const auto& metrics_of) {
      for (const ReportStep& step : run.steps) {
        const std::string& model = step.record.step;
        const json core = below(metrics_of(model), "core");
        if (!core.is_object()) continue;
        out.push_back(detection(model, part, core, evaluation.files.curves));
      }
    };
    add_part("val", [&](const std::string& model) { return below(metrics, model); });
    for (const std::string& part : parts) {
      add_part(part, [&](const std::string& model) { return below(below(tests, model), part); });
    }
  }
  return out;
}

}  // namespace kdgat
