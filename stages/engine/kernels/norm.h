// Norms with ReLU and dropout in one pass over the activations, the noise of graphs, means over
// graphs: what works row by row.
//
// N nodes, G graphs, C columns. Float or double; `p` is the probability of dropping, `layer` names
// the place in the model that asks for noise (noise_keys.h). All but `uniform` are differentiable.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/batchnorm.h>

#include <cstdint>

#include "engine/kernels/batch_tensors.h"

namespace kdgat::kernels {

/// What a GraphNorm learns (Cai et al., arXiv 2009.03294), [C] each.
struct GraphNormWeights {
  const at::Tensor &weight, &bias, &mean_scale;
};
inline constexpr double kGraphNormEps = 1e-5;

struct NormKernels {
  /// dropout(relu(norm(x))). Statistics are the batch's if `norm` is in training mode, with those
  /// of the other processes where the batch has an exchange, and then enter its running statistics
  /// if `update_running`.
  at::Tensor (*batch_norm)(const at::Tensor& x_NC, torch::nn::BatchNorm1dImpl& norm, double p,
                           uint32_t layer, const BatchTensors& batch, bool update_running);
  /// dropout(relu(weight * o / sqrt(mean(o^2) + kGraphNormEps) + bias)) with
  /// o = x - mean_scale * mean(x), means over the nodes of each graph.
  at::Tensor (*graph_norm)(const at::Tensor& x_NC, const GraphNormWeights& norm, double p,
                           uint32_t layer, const BatchTensors& batch);
  /// max(x, 0), then dropout. Rows are nodes or, `of_graphs`, graphs. The result may be written
  /// over x if it `may_overwrite`: nobody reads x again.
  at::Tensor (*relu_dropout)(const at::Tensor& x, double p, uint32_t layer,
                             const BatchTensors& batch, bool of_graphs, bool may_overwrite);
  /// Numbers in (0, 1), [N, columns], of the options of batch.x_NF.
  at::Tensor (*uniform)(const BatchTensors& batch, int64_t columns, uint32_t layer);
  /// Mean over the nodes of each graph, [G, C]; zero for a graph without nodes.
  at::Tensor (*mean_pool)(const at::Tensor& x_NC, const BatchTensors& batch);

  static const NormKernels& cpu();
  static const NormKernels& cuda();
  static const NormKernels& plain();
};

/// Running statistics after a step on `rows` rows of all processes.
void update_running_statistics(torch::nn::BatchNorm1dImpl& norm, const at::Tensor& mean,
                               const at::Tensor& variance, double rows);

}  // namespace kdgat::kernels
