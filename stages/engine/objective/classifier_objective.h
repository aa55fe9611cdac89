// Loss and score of the graph classifier. Owns the model.
#pragma once

#include "engine/model/networks/gat.h"
#include "engine/objective/classification_loss.h"
#include "engine/train/objective.h"

namespace kdgat::objective {

/// Cross entropy (or focal loss) of the classes, of windows benign against attack, a mean over the
/// graphs of the step. Throws Error(kData) if a graph has no label.
class ClassifierObjective : public train::Objective {
 public:
  explicit ClassifierObjective(model::GraphClassifier model) : model_(std::move(model)) {}

  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override;
  /// Of two classes the probability of class 1, of more the largest.
  torch::Tensor score(const graph::GraphBatch& batch) override;
  /// Log-odds of what score() says: the probability rounds to 1 in float from 17 on.
  torch::Tensor raw_score(const graph::GraphBatch& batch) override;
  double score_of(double raw_score) const override;
  torch::nn::Module& module() override { return *model_; }
  void after_step() override { model_->keep_monotone(); }
  bool with_edge_attr() const override { return model_->reads_edges(); }
  std::optional<double> threshold() const override { return 0.5; }
  bool parts_differ() const override { return model_->config().norm == "batch"; }

  /// Probabilities [G, C], float on the CPU: in eval mode, without gradients or noise.
  torch::Tensor probabilities(const graph::GraphBatch& batch);

  /// How hard each graph is: the cross entropy of its class [G], float on the CPU, as
  /// probabilities(). Throws Error(kData) if a graph has no label.
  torch::Tensor difficulty(const graph::GraphBatch& batch);

  /// Logits [G, C] on the model's device, in the module's mode and with gradients if enabled.
  torch::Tensor logits(const graph::GraphBatch& batch, graph::NoiseKey noise);

  /// The loss of logits [G, C] already computed, for objectives that add terms to it.
  torch::Tensor loss_of(const torch::Tensor& logits_GC, const graph::GraphBatch& batch,
                        const graph::StepTotals& totals);

  /// What loss_of() holds.
  static void count(model::StepCount& step, const memory::Value& logits);

  model::GraphClassifier& model() { return model_; }
  torch::Device device() const { return model_->parameters().front().device(); }

  ClassificationLoss criterion;

 private:
  model::GraphClassifier model_;
};

}  // namespace kdgat::objective
