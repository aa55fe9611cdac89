#include "engine/kernels/gin.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include <numeric>

#include "engine/kernels/full_precision.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/norm.h"
#include "engine/kernels/sums.h"

namespace kdgat::kernels {

namespace {

at::Tensor gin_layer(const at::Tensor& x_NF, const GinWeights& weights, double p, uint32_t layer,
                     const BatchTensors& batch, bool update_running) {
  constexpr double kNoDropout = 0;
  constexpr uint32_t kNoLayer = 0;  // names a place that draws noise; none is drawn
  const NormKernels& norms = kernels_for<NormKernels>(x_NF.device());
  const at::Tensor h_NC =
      at::linear(gin_sums(x_NF, weights.eps, batch), weights.weight_1, weights.bias_1);
  const at::Tensor inner_NC =
      norms.batch_norm(full(h_NC), weights.inner, kNoDropout, kNoLayer, batch, update_running);
  const at::Tensor out_NC = at::linear(inner_NC, weights.weight_2, weights.bias_2);
  return norms.batch_norm(full(out_NC), weights.outer, p, layer, batch, update_running);
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The sum of all rows. LibTorch's has as many parts as threads.
at::Tensor total_of(const at::Tensor& rows_N) {
  if (!rows_N.is_cpu()) return rows_N.sum();
  double sum = 0;
  AT_DISPATCH_FLOATING_TYPES(rows_N.scalar_type(), "total", [&] {
    const auto* rows = rows_N.const_data_ptr<scalar_t>();
    sum = std::accumulate(rows, rows + rows_N.numel(), 0.0);
  });
  return at::full({1}, sum, rows_N.options());
}

struct OwnRows : torch::autograd::Function<OwnRows> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_NF, const at::Tensor& eps) {
    ctx->save_for_backward({x_NF, eps});
    return (1 + eps) * x_NF;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor grad_x = ctx->needs_input_grad(0) ? grads[0] * (1 + saved[1]) : at::Tensor();
    return {grad_x, total_of((grads[0] * saved[0]).sum(1)).view_as(saved[1])};
  }
};

constexpr GinKernels kGin = {gin_layer};

}  // namespace

at::Tensor own_rows(const at::Tensor& x_NF, const at::Tensor& eps) {
  return OwnRows::apply(x_NF, eps);
}

at::Tensor gin_sums(const at::Tensor& given_NF, const at::Tensor& eps, const BatchTensors& batch) {
  // Sums stay in the parameters' precision, also under autocast: a node may have many neighbours.
  at::Tensor x_NF = full(given_NF);
  if (!eps.defined()) return x_NF;
  return own_rows(x_NF, eps) + kernels_for<SumKernels>(x_NF.device()).neighbours(x_NF, batch);
}

const GinKernels& GinKernels::plain() { return kGin; }

}  // namespace kdgat::kernels
