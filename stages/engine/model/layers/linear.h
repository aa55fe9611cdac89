// The linear layer: y = x weight^T + bias, with kdgat's own products on the CPU.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>

namespace kdgat::model {

/// x [R, I], weight [O, I], bias [O] or undefined; [R, O]. Differentiable once. Under autocast to
/// bfloat16 the factors are rounded to it, in both passes, and sums and results stay float, where
/// there are products of it (ProductKernels::rounds). Else under autocast, and of other types than
/// float and double, this is LibTorch's, with a result in 16 bits.
at::Tensor linear(const at::Tensor& x_RI, const at::Tensor& weight_OI, const at::Tensor& bias_O);

inline at::Tensor linear(const at::Tensor& x_RI, const torch::nn::Linear& layer) {
  return linear(x_RI, layer->weight, layer->bias);
}

}  // namespace kdgat::model
