// Batch normalisation, ReLU and dropout in one pass over the activations. Knows no parameters of
// its own: it reads a torch::nn::BatchNorm1d.
#pragma once

#include <torch/nn/modules/batchnorm.h>

#include "engine/kernels/batch_tensors.h"

namespace kdgat::model {

/// dropout(relu(norm(x))). `p` = 0 outside training. Statistics are the batch's if norm is in
/// training mode, with those of the other processes where it has an exchange, and then enter its
/// running statistics if `update_running`.
at::Tensor norm_relu_dropout(const at::Tensor& x_NC, torch::nn::BatchNorm1dImpl& norm, double p,
                             uint32_t layer, const kernels::BatchTensors& batch,
                             bool update_running);

}  // namespace kdgat::model
