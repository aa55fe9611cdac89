// What the forms of batch norm for devices have in common: what is kept for backward, and running
// statistics.
#pragma once

#include <torch/autograd.h>

#include <cstdint>

#include "engine/kernels/norm.h"

namespace kdgat::kernels {

/// How a batch norm was computed, kept for backward.
struct NormMode {
  bool training = false;
  graph::Exchange* exchange = nullptr;
  double eps = 0, scale = 1;  ///< scale of what dropout keeps

  /// Saves x, out, weight, mean and variance too, in this order. Eval mode reads the running
  /// statistics, which a later step may change: their values are kept.
  void save(torch::autograd::AutogradContext* ctx, const at::Tensor& x, const at::Tensor& out,
            const at::Tensor& weight, const at::Tensor& mean, const at::Tensor& variance) const {
    ctx->save_for_backward(
        {x, out, weight, training ? mean : mean.clone(), training ? variance : variance.clone()});
    ctx->saved_data["training"] = training;
    ctx->saved_data["exchange"] = reinterpret_cast<int64_t>(exchange);
    ctx->saved_data["eps"] = eps;
    ctx->saved_data["scale"] = scale;
  }
  static NormMode saved(torch::autograd::AutogradContext* ctx) {
    const int64_t exchange = ctx->saved_data["exchange"].toInt();
    return {ctx->saved_data["training"].toBool(),
            // NOLINTNEXTLINE(performance-no-int-to-ptr): autograd keeps numbers, no pointers
            reinterpret_cast<graph::Exchange*>(exchange), ctx->saved_data["eps"].toDouble(),
            ctx->saved_data["scale"].toDouble()};
  }
};

/// By a `Function` of autograd of (x, weight, bias, mean, variance, rows, training, eps, p, layer,
/// batch): mean and variance [C] are read in eval mode and written in training mode, as are `rows`,
/// the rows of all processes that they are of.
template <class Function>
at::Tensor batch_norm_by(const at::Tensor& x_NC, torch::nn::BatchNorm1dImpl& norm, double p,
                         uint32_t layer, const BatchTensors& batch, bool update_running) {
  const bool training = norm.is_training();
  const at::Tensor mean = training ? at::empty_like(norm.running_mean) : norm.running_mean;
  const at::Tensor variance = training ? at::empty_like(norm.running_var) : norm.running_var;
  double rows = 0;
  at::Tensor out = Function::apply(x_NC, norm.weight, norm.bias, mean, variance, &rows, training,
                                   norm.options.eps(), p, layer, batch);
  if (training && update_running) update_running_statistics(norm, mean, variance, rows);
  return out;
}

}  // namespace kdgat::kernels
