#include "engine/model/layers/gin_conv.h"

#include <ATen/autocast_mode.h>

#include "engine/kernels/gin.h"
#include "engine/kernels/kernels_for.h"
#include "engine/model/layers/linear.h"
#include "engine/model/layers/norm.h"

namespace kdgat::model {

GinConvImpl::GinConvImpl(int64_t inputs, int64_t width, bool has_messages,
                         const std::string& norm) {
  if (has_messages) eps = register_parameter("eps", torch::zeros({1}));
  lin_1 = register_module("lin_1", torch::nn::Linear(inputs, width));
  if (norm == "batch") batch_norm = register_module("norm", torch::nn::BatchNorm1d(width));
  if (norm == "graph") graph_norm = register_module("norm", GraphNorm(width));
  lin_2 = register_module("lin_2", torch::nn::Linear(width, width));
}

at::Tensor GinConvImpl::forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) {
  TORCH_CHECK(!batch_norm, "a layer with batch norms is computed as a whole");
  constexpr double kNoDropout = 0;
  constexpr uint32_t kNoLayer = 0;  // names a place that draws noise; none is drawn
  const at::Tensor h_NC = linear(kernels::gin_sums(x_NF, eps, batch), lin_1);
  return linear(graph_norm ? graph_norm_relu_dropout(h_NC, *graph_norm, kNoDropout, kNoLayer, batch)
                           : h_NC.relu(),
                lin_2);
}

at::Tensor GinConvImpl::forward_to_norm(const at::Tensor& x_NF, torch::nn::BatchNorm1dImpl& outer,
                                        double p, uint32_t layer,
                                        const kernels::BatchTensors& batch, bool update_running) {
  // This layer's products in 16 bits are LibTorch's.
  const bool in_16_bits = at::autocast::is_autocast_enabled(x_NF.device().type());
  const kernels::GinKernels& kernels =
      in_16_bits ? kernels::GinKernels::plain()
                 : kernels::kernels_for<kernels::GinKernels>(x_NF.device());
  return kernels.layer(
      x_NF, {eps, lin_1->weight, lin_1->bias, *batch_norm, lin_2->weight, lin_2->bias, outer}, p,
      layer, batch, update_running);
}

}  // namespace kdgat::model
