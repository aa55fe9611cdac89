// Layers shared by the models: convolution block, perceptron, pooling.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include <string>
#include <vector>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/layers/gat_conv.h"
#include "engine/model/layers/graph_norm.h"
#include "engine/model/layers/layer.h"
#include "engine/model/layers/step_count.h"

namespace kdgat::model {

/// GatConv, norm ("batch" or "graph"), ReLU, dropout. Heads share `width` where they divide it,
/// else each has it.
class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(int64_t inputs, int64_t width, int64_t heads, double dropout,
            const std::string& norm_kind = "batch");
  /// `layer` names the block for noise; `checkpointing` trades memory for computing twice.
  at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch, uint32_t layer,
                     bool checkpointing);
  Value count(StepCount& step, const Value& x) const;
  int64_t width() const { return conv->width(); }

  GatConv conv{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};  ///< this or graph_norm is null
  GraphNorm graph_norm{nullptr};

 private:
  double dropout_;
};
KDGAT_LAYER(Block);

/// Linear layers of `width` with ReLU and dropout between, then one to `outputs`; named "0", "3",
/// "6", ... as in a sequence of (linear, relu, dropout).
class PerceptronImpl : public torch::nn::Module {
 public:
  PerceptronImpl(int64_t width, int64_t outputs, int64_t layers, double dropout);
  /// All but the last layer. `of_graphs`: row g belongs to graph g, else rows are nodes.
  at::Tensor hidden(at::Tensor x, const kernels::BatchTensors& batch, uint32_t layer,
                    bool of_graphs);
  Value count(StepCount& step, const Value& x, bool of_graphs) const;  ///< of hidden()
  torch::nn::Linear& last() { return linears_.back(); }
  const torch::nn::Linear& last() const { return linears_.back(); }

 private:
  std::vector<torch::nn::Linear> linears_;
  double dropout_;
};
KDGAT_LAYER(Perceptron);

/// Mean over the neighbours that edges come from, [N, C]; zero for a node without any.
at::Tensor neighbour_mean(const at::Tensor& x_NC, const kernels::BatchTensors& batch);
/// Mean over the nodes of each graph, [G, C]; zero for a graph without nodes.
at::Tensor mean_pool(const at::Tensor& x_NC, const kernels::BatchTensors& batch);
/// The sum of them, and the largest of each column; zero for a graph without nodes.
at::Tensor sum_pool(const at::Tensor& x_NC, const kernels::BatchTensors& batch);
at::Tensor max_pool(const at::Tensor& x_NC, const kernels::BatchTensors& batch);

/// What they allocate; the means over neighbours are of so many columns.
Held count_neighbour_mean(StepCount& step, double columns);
Value count_mean_pool(StepCount& step, const Value& x);
Value count_sum_pool(StepCount& step, const Value& x);
Value count_max_pool(StepCount& step, const Value& x);

}  // namespace kdgat::model
