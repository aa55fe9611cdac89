#include "classifier/regressor.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "engine/objective/number_objective.h"
#include "engine/setup/labelled_graphs.h"
#include "engine/train/metrics/class_metrics.h"
#include "engine/train/scoring.h"

namespace kdgat::classifier {

void Regressor::make(const setup::GraphShape& graphs) {
  require_edge_features(options_, graphs.edge_features);
  if (options_.id_embedding != "table") setup::refuse_id_embedding(options_.id_embedding);
  const ClassifierOptions usual;
  const auto refuse = [](const std::string& option) {
    throw Error(ExitCode::kUsage, option + " is for classes; these graphs have numbers to predict",
                "leave " + option.substr(0, option.find('=')) + " away");
  };
  if (options_.loss != usual.loss) refuse("loss=" + options_.loss);
  if (options_.class_weights != usual.class_weights) {
    refuse("class_weights=" + options_.class_weights);
  }
  if (options_.sampling != usual.sampling) refuse("sampling=" + options_.sampling);
  if (options_.use_kd) refuse("use_kd=true");
  if (options_.monotone) refuse("monotone=true");
  NetworkSetupOf::make(graphs);
}

void Regressor::complete(model::GatConfig& config, const setup::GraphShape& graphs) const {
  config.classes = graphs.targets;
  config.regression = true;
  config.edge_features = graphs.edge_features;
}

train::Parts Regressor::choose_parts(const train::Data& data, const Host* host) const {
  const std::vector<int64_t> train = data.part("train");
  train::Parts out;
  out.train = train::with_target(data, train);
  if (out.train.empty()) {
    throw Error(ExitCode::kData, "no training graph has a number to predict",
                "kdgat data inspect shows the parts");
  }
  if (host != nullptr) {
    say_what_is_dropped(options_, data.store.edge_features(), *host);
    if (out.train.size() < train.size()) {
      host->log("warning", std::to_string(train.size() - out.train.size()) +
                               " training graphs without a target are left out");
    }
  }
  out.val_loss = out.val_score = train::with_target(data, data.part("val"));
  return out;
}

void Regressor::fit_input(const train::Data& data, const std::vector<int64_t>& train) {
  fit_to(*model_, data.store, train);
  const std::vector<float> targets = train::targets_of(data, train);
  const auto count = static_cast<std::size_t>(model_->config().classes);
  const torch::NoGradGuard no_grad;
  for (std::size_t t = 0; t < count; ++t) {
    double sums[2] = {0, 0}, known = 0;  // of values, then of squared distances to their mean
    for (const bool centred : {false, true}) {
      known = 0;
      for (std::size_t i = t; i < targets.size(); i += count) {
        const double value = targets[i];
        if (std::isnan(value)) continue;
        ++known;
        const double gap = centred ? value - sums[0] : value;
        sums[centred] += centred ? gap * gap : gap;
      }
      sums[centred] /= std::max(known, 1.0);
    }
    const auto at = static_cast<int64_t>(t);
    model_->target_mean[at] = sums[0];
    model_->target_deviation[at] = sums[1] > 0 ? std::sqrt(sums[1]) : 1;
  }
}

std::unique_ptr<train::Objective> Regressor::make_objective(
    std::unique_ptr<objective::Teacher> /*teacher*/) const {
  return std::make_unique<objective::NumberObjective>(model_, options_.regression_loss);
}

train::Judge Regressor::judge(const train::Data& data, train::Objective& objective) const {
  auto& numbers = dynamic_cast<objective::NumberObjective&>(objective);
  return [&data, &numbers](const std::vector<int64_t>& ids, const std::function<void()>& check) {
    const std::vector<float> predicted = train::score_all(data.store, ids, numbers.with_edge_attr(),
                                                          [&](const graph::GraphBatch& batch) {
                                                            check();
                                                            return numbers.predict(batch);
                                                          });
    nlohmann::json out =
        train::number_report(predicted, train::targets_of(data, ids), data.store.targets()->count())
            .at("core");
    out.erase("n_samples");
    return out;
  };
}

}  // namespace kdgat::classifier
