// Convolutions by means over neighbours, with PyTorch Geometric's parameter names and layout. They
// own their parameters; know nothing about noise or losses.
#pragma once

#include <torch/nn/modules/linear.h>

#include "engine/model/layers/conv.h"
#include "engine/model/layers/layer.h"

namespace kdgat::model {

/// out_i = bias + sum_j lin(x_j) / sqrt(d_j d_i) over the neighbours j of i and i itself, d_i being
/// how many these are (Kipf and Welling, arXiv 1609.02907). [N, width].
class GcnConvImpl : public ConvImpl {
 public:
  GcnConvImpl(int64_t inputs, int64_t width);
  at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) override;
  Value count(StepCount& step, const Value& x, const Held& attr) const override;

  torch::nn::Linear lin{nullptr};  ///< without bias
  at::Tensor bias;                 ///< [width]
};
KDGAT_LAYER(GcnConv);

/// out_i = lin_l(mean of x_j over the neighbours j of i) + lin_r(x_i) (Hamilton, Ying, Leskovec,
/// arXiv 1706.02216). [N, width].
class SageConvImpl : public ConvImpl {
 public:
  SageConvImpl(int64_t inputs, int64_t width);
  at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) override;
  Value count(StepCount& step, const Value& x, const Held& attr) const override;

  torch::nn::Linear lin_l{nullptr}, lin_r{nullptr};  ///< lin_r without bias
};
KDGAT_LAYER(SageConv);

}  // namespace kdgat::model
