// Graph attention in plain tensor operations: what runs on devices without a kernel, and what tests
// compare the kernels with.
#pragma once

#include "model/layers/batch_tensors.h"

namespace kdgat::model {

/// As gat_attention, differentiable on any device; holds messages of E x width.
at::Tensor gat_attention_reference(const at::Tensor& h_NC, const at::Tensor& att_src,
                                   const at::Tensor& att_dst, const at::Tensor& bias,
                                   const BatchTensors& batch);

/// Softmax of each head's scores [E, heads] over the edges of one target (int64 [E], of `nodes`).
at::Tensor softmax_by_target(const at::Tensor& score_EH, const at::Tensor& target_E, int64_t nodes);

/// Target node of each edge, [E] int64.
at::Tensor edge_targets(const BatchTensors& batch);
/// Graph of each node, [N] int64.
at::Tensor node_graphs(const BatchTensors& batch);

}  // namespace kdgat::model
