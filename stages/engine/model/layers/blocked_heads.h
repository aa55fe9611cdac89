// Output heads as wide as the vocabulary, computed with their losses and gradients in blocks of
// rows: the N x num_ids logits never exist. Own no parameters.
//
// N rows (nodes), L inputs, V outputs (num_ids).
#pragma once

#include <torch/nn/modules/linear.h>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/layers/step_count.h"

namespace kdgat::model {

/// Sum over rows of the cross entropy of softmax(z weight^T + bias) against target (int32 in
/// [0, V), not checked). Differentiable in z, weight and bias; gradients are computed with the
/// loss.
at::Tensor softmax_ce_sum(const at::Tensor& z_NL, const at::Tensor& weight_VL,
                          const at::Tensor& bias_V, const at::Tensor& target_N);

/// The same for each row, [N], without gradients.
at::Tensor softmax_ce_per_node(const at::Tensor& z_NL, const at::Tensor& weight_VL,
                               const at::Tensor& bias_V, const at::Tensor& target_N);

/// Sum over all N x V cells of the binary cross entropy of sigmoid(h weight^T + bias) against T,
/// T[i, id(j)] = 1 where an edge i -> j exists, else 0: neighbours of one id count once.
at::Tensor bce_neighbour_sum(const at::Tensor& h_NL, const at::Tensor& weight_VL,
                             const at::Tensor& bias_V, const kernels::BatchTensors& batch);

/// The same for each row, [N], without gradients.
at::Tensor bce_neighbour_per_node(const at::Tensor& h_NL, const at::Tensor& weight_VL,
                                  const at::Tensor& bias_V, const kernels::BatchTensors& batch);

/// What softmax_ce_sum() and bce_neighbour_sum() allocate for the rows `z`; a term of the loss.
void count_head(StepCount& step, const Value& z, const torch::nn::Linear& layer);

}  // namespace kdgat::model
