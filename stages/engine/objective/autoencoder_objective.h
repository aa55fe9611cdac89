// Loss and score of the graph autoencoder. Owns the model.
#pragma once

#include "engine/model/networks/vgae.h"
#include "engine/train/objective.h"

namespace kdgat::objective {

/// feature * MSE(features, x[:,1:]) + identifier * CE(ids) + neighbour * BCE(neighbours)
/// + kl * KL, each a mean over all cells of the step; terms of weight 0 are not computed. Of nodes
/// without identifiers feature * MSE(features) + neighbour * MSE(means of the neighbours' features)
/// + kl * KL, of features as they enter.
class AutoencoderObjective : public train::Objective {
 public:
  explicit AutoencoderObjective(model::GraphAutoencoder model) : model_(std::move(model)) {}

  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override;
  /// Of each graph the mean over its nodes of the squared error of the reconstructed features, a
  /// mean too; without identifiers of the sum of that error and of that of the neighbours' means.
  /// With readout mean_and_max the largest of a node is added.
  torch::Tensor score(const graph::GraphBatch& batch) override;
  torch::nn::Module& module() override { return *model_; }
  std::vector<std::pair<std::string, torch::Tensor>> parts() const override { return parts_; }
  bool parts_differ() const override { return model_->config().norm == "batch"; }

  /// The loss of a forward pass already made, for objectives that add terms to it.
  torch::Tensor loss_of(const model::VgaeOutput& output, const kernels::BatchTensors& batch,
                        const graph::StepTotals& totals);
  /// What loss_of() holds for the output of `model`.
  static void count(model::StepCount& step, const model::GraphAutoencoderImpl& model,
                    const model::VgaeCount& output);
  /// Of each node, [N]: the mean squared error of the features, and that of the neighbours (binary
  /// cross entropy, a mean over the identifiers, where nodes have some). Without gradients if none
  /// are wanted; in the module's mode.
  torch::Tensor feature_errors(const model::VgaeOutput& output);
  torch::Tensor neighbour_errors(const model::VgaeOutput& output,
                                 const kernels::BatchTensors& batch);
  /// How hard each graph is to learn: the mean over its nodes of MSE(features) + identifier *
  /// CE(ids), whatever the readout, as the loss is a mean.
  torch::Tensor difficulty(const graph::GraphBatch& batch);

  model::GraphAutoencoder& model() { return model_; }
  torch::Device device() const { return model_->mean->weight.device(); }

  double feature_weight = 1.0;
  double identifier_weight = 0.1;
  double neighbour_weight = 0.05;
  double kl_weight = 0.01;

 private:
  /// MSE(features) + identifier * CE(ids), [N, 1]; without gradients, by the module as it scores.
  torch::Tensor node_errors(const kernels::BatchTensors& batch, double identifier);

  model::GraphAutoencoder model_;
  std::vector<std::pair<std::string, torch::Tensor>> parts_;
};

}  // namespace kdgat::objective
