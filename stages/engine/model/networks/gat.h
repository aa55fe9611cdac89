// GraphClassifier: layers of a graph convolution (conv.h), jumping knowledge, a pool and a
// perceptron. forward() only.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>

#include <vector>

#include "engine/model/config/config.h"
#include "engine/model/layers/gin_conv.h"
#include "engine/model/layers/graph_norm.h"
#include "engine/model/layers/input.h"
#include "engine/model/layers/jumping.h"
#include "engine/model/layers/layers.h"

namespace kdgat::model {

class GraphClassifierImpl : public torch::nn::Module {
 public:
  explicit GraphClassifierImpl(const GatConfig& config);

  /// Logits [G, C]; of two classes class 1 is attack. Of a regression numbers in deviations of the
  /// targets from their means. No layer mixes graphs, but for norm "batch" in training.
  at::Tensor forward(const kernels::BatchTensors& batch) { return classify(pooled(batch), batch); }
  /// The states of all layers joined by jumping knowledge, pooled over each graph: [G,
  /// width*layers], with jk lstm [G, width]; width is that of the configuration.
  at::Tensor pooled(const kernels::BatchTensors& batch);
  at::Tensor classify(const at::Tensor& pooled_GF, const kernels::BatchTensors& batch);

  /// Of the training graphs: the mean of log(d + 1), d the neighbours of a node. For conv pna.
  void set_mean_log_degree(double mean);

  /// Sets negative weights to 0 where config().monotone says so, in place; of class 0 positive
  /// ones, so that log-odds grow. For after each step of training.
  void keep_monotone();

  /// The logits.
  Value count(StepCount& step) const;

  const GatConfig& config() const { return config_; }
  /// Whether batches must carry edge features.
  bool reads_edges() const { return config_.reads_edges(); }

  bool checkpointing = false;  ///< compute each layer again in backward; changes no result

  Input input{nullptr};
  torch::nn::ModuleList convs;  ///< each a ConvImpl
  torch::nn::ModuleList norms;  ///< GraphNorm or BatchNorm1d; empty without
  JumpingLstm jk{nullptr};      ///< null if states are concatenated
  Perceptron head{nullptr};
  at::Tensor target_mean, target_deviation;  ///< [C], of a regression; else undefined

 private:
  Value count_pooled(StepCount& step) const;
  /// The weights that keep_monotone() holds, but for those of the last layer.
  std::vector<at::Tensor> never_negative() const;

  GatConfig config_;
};
KDGAT_LAYER(GraphClassifier);

GraphClassifier make_model(const GatConfig& config);

}  // namespace kdgat::model
