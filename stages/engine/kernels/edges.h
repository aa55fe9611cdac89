// What nodes get by their edges where edges have features, or where each is looked at by itself.
//
// N nodes, E edges in the order of the batch, C columns. Float or double. Edges from a node to
// itself are left out. All are differentiable. `e_EC`, rows of the edges, may be missing but for
// relu_sums.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "engine/kernels/batch_tensors.h"

namespace kdgat::kernels {

struct EdgeKernels {
  /// out_i = sum of relu(x_j + e_ji) over the edges from j to i. [N, C].
  at::Tensor (*relu_sums)(const at::Tensor& x_NC, const at::Tensor& e_EC,
                          const BatchTensors& batch);
  /// out_i = sum_j softmax_j(<q_i, k_j + e_ji> / sqrt(channels)) (v_j + e_ji), for each of `heads`
  /// heads, which stand side by side in C = heads * channels; zero without edges. [N, C].
  at::Tensor (*attention)(const at::Tensor& q_NC, const at::Tensor& k_NC, const at::Tensor& v_NC,
                          const std::optional<at::Tensor>& e_EC, int64_t heads,
                          const BatchTensors& batch);
  /// Of l_j + r_i + e_ji over the edges from j to i: mean, least, largest and deviation of each
  /// column, side by side; zero without edges. [N, 4C]. Of edges that are alike, the first has the
  /// gradient of the least and of the largest. A variance of 1e-5 or less is none (as in PyTorch
  /// Geometric).
  at::Tensor (*statistics)(const at::Tensor& l_NC, const at::Tensor& r_NC,
                           const std::optional<at::Tensor>& e_EC, const BatchTensors& batch);

  static const EdgeKernels& cpu();
  /// Holds messages of E x C.
  static const EdgeKernels& plain();
};

}  // namespace kdgat::kernels
