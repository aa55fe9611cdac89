#include "fields/space/objective/graph_objective.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/objective/eval_guard.h"
#include "kdgat/error.h"

namespace kdgat::space {

namespace {

[[noreturn]] void refuse(const graph::GraphBatch& batch, int64_t g, const std::string& problem,
                         const std::string& hint) {
  throw Error(ExitCode::kData, "graph " + std::to_string(batch.graph_id[g]) + problem, hint);
}

void check_classes(const graph::GraphBatch& batch, int64_t classes) {
  for (int64_t g = 0; g < batch.graphs; ++g) {
    if (batch.y[g] < 0) {
      refuse(batch, g, " has no label", "leave graphs without one out, or label them");
    }
    if (batch.y[g] >= classes) {
      refuse(batch, g,
             " is of class " + std::to_string(batch.y[g]) + ", and the model knows " +
                 std::to_string(classes),
             "train a model on data of these classes");
    }
  }
}

void check_targets(const graph::GraphBatch& batch) {
  for (int64_t g = 0; g < batch.graphs; ++g) {
    if (!std::isfinite(batch.target[g])) {
      refuse(batch, g, " has no target", "leave graphs without one out");
    }
  }
}

}  // namespace

GraphObjective::GraphObjective(GraphModel model, bool frozen)
    : model_(std::move(model)), frozen_(frozen) {
  if (!frozen || !model_->encoder) return;
  for (torch::Tensor& parameter : model_->encoder->parameters()) parameter.set_requires_grad(false);
}

torch::Tensor GraphObjective::readouts(const graph::GraphBatch& batch) {
  const torch::AutoGradMode gradients(torch::GradMode::is_enabled() && !frozen_);
  if (!frozen_ || !keep_readouts) return model_->encode(batch);
  std::vector<torch::Tensor> rows;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const auto found = kept_.find(batch.graph_id[g]);
    if (found != kept_.end()) rows.push_back(found->second);
  }
  if (static_cast<int64_t>(rows.size()) == batch.graphs) return torch::stack(rows);
  torch::Tensor out_GH = model_->encode(batch);
  rows = out_GH.unbind();
  for (int64_t g = 0; g < batch.graphs; ++g) {
    kept_[batch.graph_id[g]] = rows[static_cast<std::size_t>(g)];
  }
  return out_GH;
}

torch::Tensor GraphObjective::loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                                   graph::NoiseKey /*noise*/) {
  const auto graphs = static_cast<double>(totals.graphs);
  const int64_t classes = model_->head_config().classes;
  if (classes > 0) {
    check_classes(batch, classes);
    const torch::Tensor logits_GC = model_->head(readouts(batch));
    const torch::Tensor y_G =
        torch::from_blob(const_cast<int64_t*>(batch.y.data()), {batch.graphs}, torch::kLong)
            .to(logits_GC.device(), torch::kLong, false, true);  // copied: the loss may live longer
    return torch::cross_entropy_loss(logits_GC, y_G, {}, at::Reduction::Sum) / graphs;
  }
  check_targets(batch);
  const torch::Tensor value_G = model_->head(readouts(batch)).squeeze(1);
  const torch::Tensor target_G =
      torch::from_blob(const_cast<float*>(batch.target.data()), {batch.graphs}, torch::kFloat)
          .to(value_G.options());
  const torch::Tensor wanted_G = (target_G - model_->target_mean) / model_->target_deviation;
  return (value_G - wanted_G).square().sum() / graphs;
}

torch::Tensor GraphObjective::predict(const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const objective::EvalGuard eval(*model_);
  const torch::Tensor out_GC = model_->head(readouts(batch));
  const torch::Tensor predicted =
      model_->head_config().is_regression()
          ? out_GC.squeeze(1) * model_->target_deviation + model_->target_mean
          : out_GC.softmax(1);
  return predicted.to(torch::kFloat).cpu();
}

torch::Tensor GraphObjective::score(const graph::GraphBatch& batch) {
  torch::Tensor predicted = predict(batch);
  if (predicted.dim() == 1) return predicted;
  return predicted.size(1) == 2 ? predicted.select(1, 1).contiguous()
                                : std::get<0>(predicted.max(1));
}

}  // namespace kdgat::space
