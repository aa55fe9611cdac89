// Loss and score of the graph classifier. Owns the model.
#pragma once

#include "model/detector/gat.h"
#include "objective/classification_loss.h"
#include "train/objective.h"

namespace kdgat::objective {

/// Cross entropy (or focal loss) of benign against attack, a mean over the graphs of the step.
/// Throws Error(kData) if a graph has no label.
class ClassifierObjective : public train::Objective {
 public:
  explicit ClassifierObjective(model::GraphClassifier model) : model_(std::move(model)) {}

  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override;
  /// Probability of class 1.
  torch::Tensor score(const graph::GraphBatch& batch) override;
  /// Log-odds of class 1: the probability rounds to 1 in float from 17 on.
  torch::Tensor raw_score(const graph::GraphBatch& batch) override;
  double score_of(double raw_score) const override;
  torch::nn::Module& module() override { return *model_; }
  bool with_edge_attr() const override { return model_->reads_edges(); }
  std::optional<double> threshold() const override { return 0.5; }

  /// Logits [G, 2] on the model's device, in the module's mode and with gradients if enabled.
  torch::Tensor logits(const graph::GraphBatch& batch, graph::NoiseKey noise);

  /// The loss of logits [G, 2] already computed, for objectives that add terms to it.
  torch::Tensor loss_of(const torch::Tensor& logits_G2, const graph::GraphBatch& batch,
                        const graph::StepTotals& totals);

  model::GraphClassifier& model() { return model_; }
  torch::Device device() const { return model_->input->embedding->weight.device(); }

  ClassificationLoss criterion;

 private:
  model::GraphClassifier model_;
};

}  // namespace kdgat::objective
