#include "model/layers/linear.h"

#include <ATen/autocast_mode.h>
#include <torch/autograd.h>

#include <optional>

#include "model/kernels/kernels_for.h"
#include "model/kernels/products.h"

namespace kdgat::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["has_bias"] = bias.has_value();
    return kernels_for<ProductKernels>(x.device())
        .product(x, weight.t(), bias.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &grad = grads[0];
    const ProductKernels& products = kernels_for<ProductKernels>(x.device());
    at::Tensor grad_x, grad_weight, grad_bias;
    if (ctx->needs_input_grad(0)) grad_x = products.product(grad, weight, {});
    const bool bias_needs = ctx->saved_data["has_bias"].toBool() && ctx->needs_input_grad(2);
    if (ctx->needs_input_grad(1) || bias_needs) {
      grad_weight = at::zeros_like(weight);
      if (bias_needs) grad_bias = at::zeros({weight.size(0)}, weight.options());
      products.add_product(grad_weight, grad_bias, grad, x);
    }
    return {grad_x, grad_weight, grad_bias};
  }
};

bool is_ours(const at::Tensor& x, const at::Tensor& weight) {
  return x.is_cpu() && x.dim() == 2 && x.scalar_type() == weight.scalar_type() &&
         (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble) &&
         !at::autocast::is_autocast_enabled(at::kCPU);
}

}  // namespace

at::Tensor linear(const at::Tensor& x_RI, const at::Tensor& weight_OI, const at::Tensor& bias_O) {
  if (!is_ours(x_RI, weight_OI)) {
    return bias_O.defined() ? at::linear(x_RI, weight_OI, bias_O) : at::linear(x_RI, weight_OI);
  }
  const bool with_grad =
      at::GradMode::is_enabled() && (x_RI.requires_grad() || weight_OI.requires_grad() ||
                                     (bias_O.defined() && bias_O.requires_grad()));
  if (with_grad) {  // autograd takes no undefined tensor
    return LinearFunction::apply(x_RI, weight_OI,
                                 bias_O.defined() ? std::optional(bias_O) : std::nullopt);
  }
  return kernels_for<ProductKernels>(x_RI.device()).product(x_RI, weight_OI.t(), bias_O);
}

}  // namespace kdgat::model
