// Attention over the incoming edges of each node and one self-loop.
//
// N nodes, E edges, C = heads * channels, the heads side by side. Float or double.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/batch_tensors.h"
#include "engine/kernels/cpu/isa/basics.h"

namespace kdgat::kernels {

/// Slope of the leaky ReLU of scores below 0, as published (GAT, Velickovic et al. 2018).
inline constexpr double kAttentionSlope = 0.2;

/// Both are differentiable, but for the features of edges, which no kernel needs to be; edges from
/// a node to itself are left out.
struct GatKernels {
  /// out_i = bias + sum_j softmax_j(leaky_relu(<h_j, att_src> + <h_i, att_dst>)) h_j, [N, C].
  /// h contiguous; att_src, att_dst [1, heads, channels], bias [C].
  at::Tensor (*attention)(const at::Tensor& h_NC, const at::Tensor& att_src,
                          const at::Tensor& att_dst, const at::Tensor& bias,
                          const BatchTensors& batch);
  /// out_i = bias + sum_j softmax_j(<att, leaky_relu(l_j + r_i + lin_edge a_ji)>) l_j, a the
  /// features of the edge, of a self-loop their mean over the node's incoming edges (Brody, Alon,
  /// Yahav, arXiv 2105.14491). l, r contiguous; lin_edge [C, D], att [1, heads, channels].
  at::Tensor (*attention_v2)(const at::Tensor& l_NC, const at::Tensor& r_NC,
                             const at::Tensor& lin_edge, const at::Tensor& att,
                             const at::Tensor& bias, const BatchTensors& batch);

  static const GatKernels& cpu();
  static const GatKernels& cuda();
  /// Holds messages of E x C.
  static const GatKernels& plain();
};

}  // namespace kdgat::kernels
