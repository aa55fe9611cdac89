// What evaluations of labelled graphs share: the parts, how they are called, and the result.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/setup/trained_model.h"
#include "engine/train/data_set.h"
#include "engine/train/metrics/metric.h"
#include "evaluate/evaluate_options.h"
#include "kdgat/stage.h"

namespace kdgat::evaluate {

/// "val", then the test parts, those of `wanted` alone if there are some.
std::vector<std::string> parts_to_judge(const train::Data& data,
                                        const std::vector<std::string>& wanted);
/// "test/a" is shown as "a".
std::string shown_part(const std::string& part);
/// Throws Error(kUsage): what the edges give another network shows.
void refuse_ablation(const EvaluateOptions& options);

/// Metrics, figures and the table of `rows`: [part as shown, model, graphs, metrics in tables].
/// `baseline`: a model that speaks for nothing.
template <class Metric>
StageResult result_of(nlohmann::json metrics, std::span<const Metric> forms,
                      const std::vector<std::string>& parts,
                      const std::vector<nlohmann::json>& rows, const std::string& baseline) {
  StageResult out;
  out.figures = train::evaluated_figures(metrics, forms);
  out.metrics = std::move(metrics);
  for (Figure& figure : out.figures) {
    if (figure.model != baseline) continue;
    figure.headline = 0;
    figure.is_tile = false;
  }
  out.table = ResultTable{{"part", "model", "graphs"}, {}};
  for (const Metric* one : train::in_tables(forms)) out.table->columns.push_back(one->label());
  for (const std::string& part : parts) {
    bool is_first = true;
    for (const nlohmann::json& row : rows) {
      if (row.at(0) != shown_part(part)) continue;
      out.table->rows.push_back(row);
      if (!std::exchange(is_first, false)) out.table->rows.back()[0] = "";
    }
  }
  out.summary = "";
  return out;
}

/// Every model of the request, and the baseline.
template <class Evaluation>
nlohmann::json evaluate_all(const EvaluateOptions& options, const train::Data& data,
                            const Request& request, const Host& host) {
  refuse_ablation(options);
  const torch::Device device = setup::prepare_scoring(request, host);
  Evaluation evaluation(data, options.parts, host);
  for (const Input& input : request.inputs.at("models")) evaluation.add(input, device);
  evaluation.add_baseline();
  return evaluation.result(request.run_dir);
}

}  // namespace kdgat::evaluate
