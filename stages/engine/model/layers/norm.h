// Batch normalisation, ReLU and dropout in one pass over the activations. Knows no parameters of
// its own: it reads a torch::nn::BatchNorm1d.
#pragma once

#include <torch/nn/modules/batchnorm.h>

#include <vector>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/layers/step_count.h"

namespace kdgat::model {

/// dropout(relu(norm(x))). `p` = 0 outside training. Statistics are the batch's if norm is in
/// training mode, with those of the other processes where it has an exchange, and then enter its
/// running statistics if `update_running`.
at::Tensor norm_relu_dropout(const at::Tensor& x_NC, torch::nn::BatchNorm1dImpl& norm, double p,
                             uint32_t layer, const kernels::BatchTensors& batch,
                             bool update_running);

/// What norm_relu_dropout() allocates.
Value count_norm_relu_dropout(StepCount& step, const Value& x,
                              const torch::nn::BatchNorm1dImpl& norm);
/// The same with statistics of the batch, or `of_graph`; parameters of so many elements.
Value count_norm_relu_dropout(StepCount& step, const Value& x, bool of_graph,
                              const std::vector<double>& parameters);

}  // namespace kdgat::model
