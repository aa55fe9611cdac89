#include "engine/model/layers/gatv2_conv.h"

#include "engine/kernels/full_precision.h"
#include "engine/kernels/gat.h"
#include "engine/kernels/kernels_for.h"
#include "engine/model/layers/init.h"
#include "engine/model/layers/linear.h"
#include "kdgat/error.h"

namespace kdgat::model {

GatV2ConvImpl::GatV2ConvImpl(int64_t inputs, int64_t channels, int64_t heads, int64_t edge_features)
    : channels_(channels), heads_(heads) {
  if (heads < 1 || heads > kernels::isa::kMaxHeads || channels < 1) {
    throw Error(ExitCode::kUsage, "attention with " + std::to_string(heads) + " heads of " +
                                      std::to_string(channels) + " channels: 1 to " +
                                      std::to_string(kernels::isa::kMaxHeads) +
                                      " heads are possible");
  }
  const int64_t width = heads * channels;
  lin_l = register_module("lin_l", torch::nn::Linear(inputs, width));
  lin_r = register_module("lin_r", torch::nn::Linear(inputs, width));
  lin_edge = register_module(
      "lin_edge", torch::nn::Linear(torch::nn::LinearOptions(edge_features, width).bias(false)));
  att = register_parameter("att", torch::empty({1, heads, channels}));
  bias = register_parameter("bias", torch::zeros({width}));
  for (const at::Tensor& t : {lin_l->weight, lin_r->weight, lin_edge->weight, att}) glorot(t);
}

at::Tensor GatV2ConvImpl::forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) {
  return gatv2_attention(linear(x_NF, lin_l), linear(x_NF, lin_r), lin_edge->weight, att, bias,
                         batch);
}

at::Tensor gatv2_attention(const at::Tensor& l_NC, const at::Tensor& r_NC,
                           const at::Tensor& lin_edge, const at::Tensor& att,
                           const at::Tensor& bias, const kernels::BatchTensors& batch) {
  // Scores and their softmax stay in the parameters' precision, also under autocast.
  const kernels::FullPrecision exact;
  const at::Tensor l = l_NC.to(att.scalar_type()).contiguous();
  const at::Tensor r = r_NC.to(att.scalar_type()).contiguous();
  // No kernel has a gradient of the features of edges.
  const kernels::GatKernels& kernels = batch.edge_attr_ED.requires_grad()
                                           ? kernels::GatKernels::plain()
                                           : kernels::kernels_for<kernels::GatKernels>(l.device());
  return kernels.attention_v2(l, r, lin_edge, att, bias, batch);
}

}  // namespace kdgat::model
