// GatV2Conv: graph attention of the second kind (Brody, Alon, Yahav: How attentive are graph
// attention networks?, arXiv 2105.14491) with edge features, with PyTorch Geometric's parameter
// names and layout.
#pragma once

#include <torch/nn/modules/linear.h>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/layers/conv.h"
#include "engine/model/layers/layer.h"

namespace kdgat::model {

/// out_i = bias + sum_j softmax_j(<att, leaky_relu(l_j + r_i + lin_edge a_ji)>) l_j over the
/// incoming edges of i and one self-loop, l = lin_l(x), r = lin_r(x), a the features of the edge. A
/// self-loop has the mean of the features of i's incoming edges, zero if there are none; edges from
/// a node to itself are left out. The heads stand side by side: [N, heads*channels].
class GatV2ConvImpl : public ConvImpl {
 public:
  GatV2ConvImpl(int64_t inputs, int64_t channels, int64_t heads, int64_t edge_features);

  /// batch.edge_attr_ED must be there.
  at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) override;
  Value count(StepCount& step, const Value& x, const Held& attr) const override;
  bool keeps_result() const override { return true; }
  int64_t width() const { return heads_ * channels_; }

  torch::nn::Linear lin_l{nullptr}, lin_r{nullptr};
  torch::nn::Linear lin_edge{nullptr};  ///< without bias
  at::Tensor att;                       ///< [1, heads, channels]
  at::Tensor bias;                      ///< [heads*channels]

 private:
  int64_t channels_, heads_;
};
KDGAT_LAYER(GatV2Conv);

/// The edge part, over l and r [N, heads*channels]; lin_edge [heads*channels, D].
at::Tensor gatv2_attention(const at::Tensor& l_NC, const at::Tensor& r_NC,
                           const at::Tensor& lin_edge, const at::Tensor& att,
                           const at::Tensor& bias, const kernels::BatchTensors& batch);

}  // namespace kdgat::model
