// Loss and predictions of a graph network that predicts numbers (regression). Owns the model.
//
// G graphs, T targets.
#pragma once

#include <string>

#include "engine/model/networks/gat.h"
#include "engine/train/objective.h"

namespace kdgat::objective {

class NumberObjective : public train::Objective {
 public:
  /// `loss`: of number_loss_names().
  NumberObjective(model::GraphClassifier model, std::string loss);

  /// A mean over the graphs of the step and the targets, of distances in deviations of each target:
  /// squares ("mse"), absolute values ("mae"), or squares up to one deviation and absolute values
  /// from there ("huber"). Targets that are not known count nothing. Throws Error(kData) if a graph
  /// has none.
  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override;
  /// The first number of each graph.
  torch::Tensor score(const graph::GraphBatch& batch) override;
  torch::nn::Module& module() override { return *model_; }
  bool with_edge_attr() const override { return model_->reads_edges(); }
  bool parts_differ() const override { return model_->config().norm == "batch"; }

  /// Numbers in the units of the data, [G, T], float on the CPU: in eval mode, without gradients.
  torch::Tensor predict(const graph::GraphBatch& batch);

  /// What loss() holds of the network's outputs.
  static void count(model::StepCount& step, const memory::Value& outputs);

  model::GraphClassifier& model() { return model_; }

 private:
  torch::Device device() const { return model_->parameters().front().device(); }
  torch::Tensor outputs(const graph::GraphBatch& batch, graph::NoiseKey noise);

  model::GraphClassifier model_;
  std::string loss_;
};

}  // namespace kdgat::objective
