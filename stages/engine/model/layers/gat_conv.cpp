#include "engine/model/layers/gat_conv.h"

#include "engine/kernels/gat.h"
#include "engine/kernels/kernels_for.h"
#include "engine/model/layers/init.h"
#include "engine/model/layers/linear.h"
#include "kdgat/error.h"

namespace kdgat::model {

GatConvImpl::GatConvImpl(int64_t inputs, int64_t channels, int64_t heads)
    : channels_(channels), heads_(heads) {
  if (heads < 1 || heads > kernels::isa::kMaxHeads || channels < 1) {
    throw Error(ExitCode::kUsage, "attention with " + std::to_string(heads) + " heads of " +
                                      std::to_string(channels) + " channels: 1 to " +
                                      std::to_string(kernels::isa::kMaxHeads) +
                                      " heads are possible");
  }
  lin = register_module(
      "lin", torch::nn::Linear(torch::nn::LinearOptions(inputs, heads * channels).bias(false)));
  att_src = register_parameter("att_src", torch::empty({1, heads, channels}));
  att_dst = register_parameter("att_dst", torch::empty({1, heads, channels}));
  bias = register_parameter("bias", torch::zeros({heads * channels}));
  glorot(lin->weight);
  glorot(att_src);
  glorot(att_dst);
}

at::Tensor GatConvImpl::forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) {
  return gat_attention(linear(x_NF, lin), att_src, att_dst, bias, batch);
}

at::Tensor gat_attention(const at::Tensor& h_NC, const at::Tensor& att_src,
                         const at::Tensor& att_dst, const at::Tensor& bias,
                         const kernels::BatchTensors& batch) {
  // Scores and their softmax stay in the parameters' precision, also under autocast.
  const at::Tensor h = h_NC.to(att_src.scalar_type()).contiguous();
  return kernels::kernels_for<kernels::GatKernels>(h.device())
      .attention(h, att_src, att_dst, bias, batch);
}

}  // namespace kdgat::model
