#include "model/layers/gin_conv.h"

#include "model/kernels/full_precision.h"
#include "model/kernels/kernels_for.h"
#include "model/kernels/sums.h"
#include "model/layers/linear.h"
#include "model/layers/norm.h"

namespace kdgat::model {

GinConvImpl::GinConvImpl(int64_t inputs, int64_t width, bool has_messages,
                         const std::string& norm) {
  if (has_messages) eps = register_parameter("eps", torch::zeros({1}));
  lin_1 = register_module("lin_1", torch::nn::Linear(inputs, width));
  if (norm == "batch") batch_norm = register_module("norm", torch::nn::BatchNorm1d(width));
  if (norm == "graph") graph_norm = register_module("norm", GraphNorm(width));
  lin_2 = register_module("lin_2", torch::nn::Linear(width, width));
}

at::Tensor GinConvImpl::forward(const at::Tensor& given_NF, const BatchTensors& batch,
                                bool update_running) {
  // Sums stay in the parameters' precision, also under autocast: a node may have many neighbours.
  at::Tensor x_NF = full(given_NF);
  if (eps.defined()) {
    const at::Tensor sum_NF = kernels_for<SumKernels>(x_NF.device()).neighbours(x_NF, batch);
    x_NF = (1 + eps) * x_NF + sum_NF;
  }
  constexpr double kNoDropout = 0;
  constexpr uint32_t kNoLayer = 0;  // names a place that draws noise; none is drawn
  at::Tensor h_NC = linear(x_NF, lin_1);
  if (batch_norm) {
    h_NC = norm_relu_dropout(h_NC, *batch_norm, kNoDropout, kNoLayer, batch, update_running);
  } else if (graph_norm) {
    h_NC = graph_norm_relu_dropout(h_NC, *graph_norm, kNoDropout, kNoLayer, batch);
  } else {
    h_NC = h_NC.relu();
  }
  return linear(h_NC, lin_2);
}

}  // namespace kdgat::model
