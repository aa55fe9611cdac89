#include "evaluate/number_evaluation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/file/safetensors.h"
#include "engine/model/model_file.h"
#include "engine/objective/load_scorer.h"
#include "engine/objective/number_objective.h"
#include "engine/setup/trained_model.h"
#include "engine/train/metrics/class_metrics.h"
#include "engine/train/scoring.h"
#include "evaluate/parts.h"

namespace kdgat::evaluate {
namespace {

using nlohmann::json;

constexpr const char* kMean = "mean of training";

/// What a model predicts of graphs that have a target.
struct NumberPredictions {
  std::vector<int64_t> graph;
  std::vector<float> target, prediction;  ///< [graphs, T]
};

class NumberEvaluation {
 public:
  /// `wanted`: test parts; empty = all. All outlive it.
  NumberEvaluation(const train::Data& data, const std::vector<std::string>& wanted,
                   const Host& host)
      : data_(data), targets_(data.store.need<graph::Targets>()), host_(host) {
    for (const std::string& part : parts_to_judge(data, wanted)) {
      if (!known(part).graph.empty()) parts_.push_back(part);
    }
  }

  void add(const Input& input, torch::Device device) {
    const model::TrainedModel made = model::open_model(input.path);
    model::require_layout(made, train::layout_of(data_.store),
                          "a model can only judge graphs with the features and targets it was "
                          "trained with");
    const auto scorer = objective::load_scorer(made.path(), device);
    auto* numbers = dynamic_cast<objective::NumberObjective*>(scorer.get());
    if (numbers == nullptr || numbers->model()->config().classes != width()) {
      throw Error(ExitCode::kData, made.path().string() + ": it does not predict these numbers",
                  "train it on these graphs");
    }
    models_.push_back({input.step, model::parameters_of(made.file)});
    for (const std::string& part : parts_) {
      NumberPredictions& p = kept_.emplace_back(known(part));
      const std::string name = input.step + "/" + shown_part(part);
      const auto total = static_cast<int64_t>(p.graph.size());
      p.prediction = train::score_all(
          data_.store, p.graph, numbers->with_edge_attr(),
          [&](const graph::GraphBatch& batch) { return numbers->predict(batch); },
          [&](int64_t values) {
            if (const ExitCode code = host_.cancelled(); code != ExitCode::kOk) {
              throw Error(code, "stopped while judging " + name);
            }
            host_.progress(name, "graph", values / width(), total);
          });
      write(input.step + "/" + part, p);
      report(input.step, part, p);
    }
  }

  /// The mean of each target over the training graphs, whatever the graph.
  void add_baseline() {
    const NumberPredictions train = known("train");
    const auto count = static_cast<std::size_t>(width());
    std::vector<float> means(count);
    for (std::size_t t = 0; t < count; ++t) {
      double sum = 0, known = 0;
      for (std::size_t i = t; i < train.target.size(); i += count) {
        if (std::isnan(train.target[i])) continue;
        sum += static_cast<double>(train.target[i]);
        ++known;
      }
      means[t] = static_cast<float>(sum / std::max(known, 1.0));
    }
    for (const std::string& part : parts_) {
      NumberPredictions p = known(part);
      for (std::size_t g = 0; g < p.graph.size(); ++g) {
        p.prediction.insert(p.prediction.end(), means.begin(), means.end());
      }
      report(kMean, part, p);
    }
  }

  /// Writes predictions.safetensors into `folder`, too.
  json result(const std::filesystem::path& folder) {
    writer_.metadata("store", data_.store.content_hash());
    writer_.metadata("targets", Host::dump(targets_.names));
    writer_.write(folder / "predictions.safetensors");
    StageResult out = result_of(metrics_, train::metrics_of_numbers(), parts_, rows_, kMean);
    if (width() > 1) {
      out.tables.push_back(
          {{"target", "part", "model", "graphs", "MAE", "RMSE", "R2"}, std::move(target_rows_)});
    }
    out.tables.push_back({{"model", "parameters"}, models_});
    return out;
  }

 private:
  int64_t width() const { return static_cast<int64_t>(targets_.count()); }

  NumberPredictions known(const std::string& part) const {
    NumberPredictions out;
    out.graph = train::with_target(data_, data_.part(part));
    out.target = train::targets_of(data_, out.graph);
    return out;
  }

  void report(const std::string& step, const std::string& part, const NumberPredictions& p) {
    const json said = train::number_report(p.prediction, p.target, targets_.count());
    json& place = part == "val" ? metrics_[step] : metrics_["test"][step][shown_part(part)];
    place["core"] = said.at("core");
    const auto cells = [](json row, const json& of) {
      for (const train::NumberMetric* one : train::in_tables(train::metrics_of_numbers())) {
        row.push_back(one->text(of.at(std::string(one->name))));
      }
      return row;
    };
    rows_.push_back(cells({shown_part(part), step, p.graph.size()}, said.at("core")));
    for (std::size_t t = 0; t < targets_.count(); ++t) {
      const json& of_target = said.at("targets").at(t);
      place["additional"]["targets"][targets_.names[t]] = of_target;
      if (part == "val") continue;
      target_rows_.push_back(
          cells({targets_.names[t], shown_part(part), step, of_target.at("n_samples")}, of_target));
    }
  }

  /// `p` must stay: it is written at the end.
  void write(const std::string& name, const NumberPredictions& p) {
    const auto size = static_cast<int64_t>(p.graph.size());
    writer_.add(name + "/graph", {size}, std::span<const int64_t>(p.graph));
    writer_.add(name + "/target", {size, width()}, std::span<const float>(p.target));
    writer_.add(name + "/prediction", {size, width()}, std::span<const float>(p.prediction));
  }

  const train::Data& data_;
  const graph::Targets& targets_;
  const Host& host_;
  std::vector<std::string> parts_;
  file::SafetensorsWriter writer_;
  std::deque<NumberPredictions> kept_;  // references stay valid
  json metrics_ = json::object();
  std::vector<json> rows_, target_rows_, models_;
};

}  // namespace

json evaluate_numbers(const EvaluateOptions& options, const train::Data& data,
                      const Request& request, const Host& host) {
  return evaluate_all<NumberEvaluation>(options, data, request, host);
}

}  // namespace kdgat::evaluate
