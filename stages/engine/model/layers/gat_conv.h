// GatConv: graph attention (Velickovic et al., arXiv 1710.10903) with PyTorch Geometric's parameter
// names and layout. Owns its parameters; knows nothing about noise, norms or losses.
#pragma once

#include <torch/nn/modules/linear.h>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/layers/conv.h"
#include "engine/model/layers/layer.h"

namespace kdgat::model {

/// out_i = bias + sum_j softmax_j(leaky_relu(src_j + dst_i)) h_j over the incoming edges of i and
/// one self-loop; h = x lin^T, src and dst its products with att_src and att_dst. The heads stand
/// side by side: [N, heads*channels].
class GatConvImpl : public ConvImpl {
 public:
  GatConvImpl(int64_t inputs, int64_t channels, int64_t heads);

  at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) override;
  Value count(StepCount& step, const Value& x, const Held& attr = nullptr) const override;
  int64_t width() const { return heads_ * channels_; }

  torch::nn::Linear lin{nullptr};
  at::Tensor att_src;  ///< [1, heads, channels]
  at::Tensor att_dst;
  at::Tensor bias;  ///< [heads*channels]

 private:
  int64_t channels_, heads_;
};
KDGAT_LAYER(GatConv);

/// The edge part: attention over h [N, heads*channels].
at::Tensor gat_attention(const at::Tensor& h_NC, const at::Tensor& att_src,
                         const at::Tensor& att_dst, const at::Tensor& bias,
                         const kernels::BatchTensors& batch);

}  // namespace kdgat::model
