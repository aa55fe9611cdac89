// The linear layer: y = x weight^T + bias, with kdgat's own products on the CPU.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>

#include <vector>

#include "engine/model/layers/step_count.h"

namespace kdgat::model {

/// x [R, I], weight [O, I], bias [O] or undefined; [R, O]. Differentiable once. Under autocast to
/// bfloat16 the factors are rounded to it, in both passes, and sums and results stay float, where
/// there are products of it (ProductKernels::rounds). Else under autocast, and of other types than
/// float and double, this is LibTorch's, with a result in 16 bits.
at::Tensor linear(const at::Tensor& x_RI, const at::Tensor& weight_OI, const at::Tensor& bias_O);

inline at::Tensor linear(const at::Tensor& x_RI, const torch::nn::Linear& layer) {
  return linear(x_RI, layer->weight, layer->bias);
}

inline torch::nn::Linear linear_without_bias(int64_t inputs, int64_t outputs) {
  return torch::nn::Linear(torch::nn::LinearOptions(inputs, outputs).bias(false));
}

struct CountedProduct {
  Value value;
  Held rounded;  ///< the result in 16 bits, before it is 32 again
};

/// What a count needs to know of a linear layer.
struct LinearSize {
  // NOLINTNEXTLINE(google-explicit-constructor): a layer is one
  LinearSize(const torch::nn::Linear& layer);
  /// Of a layer to come.
  LinearSize(int64_t inputs, int64_t columns);

  double outputs;
  std::vector<double> parameters;  ///< elements of the weights, then of the bias if there is one
};

/// What linear() allocates, and LibTorch's product in its place.
CountedProduct count_linear(StepCount& step, const Value& x, const LinearSize& layer);
CountedProduct count_linear_of_libtorch(StepCount& step, const Value& x, const LinearSize& layer);

}  // namespace kdgat::model
