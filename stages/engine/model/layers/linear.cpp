#include "engine/model/layers/linear.h"

#include <ATen/autocast_mode.h>
#include <torch/autograd.h>

#include <numeric>
#include <optional>
#include <vector>

#include "engine/kernels/kernels_for.h"
#include "engine/kernels/products.h"

namespace kdgat::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, bool in_bfloat16) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["has_bias"] = bias.has_value();
    ctx->saved_data["in_bfloat16"] = in_bfloat16;
    return kernels::kernels_for<kernels::ProductKernels>(x.device())
        .product(x, weight.t(), bias.value_or(at::Tensor()), in_bfloat16);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &grad = grads[0];
    const kernels::ProductKernels& products =
        kernels::kernels_for<kernels::ProductKernels>(x.device());
    const bool in_bfloat16 = ctx->saved_data["in_bfloat16"].toBool();
    at::Tensor grad_x, grad_weight, grad_bias;
    if (ctx->needs_input_grad(0)) grad_x = products.product(grad, weight, {}, in_bfloat16);
    const bool bias_needs = ctx->saved_data["has_bias"].toBool() && ctx->needs_input_grad(2);
    if (ctx->needs_input_grad(1) || bias_needs) {
      grad_weight = at::zeros_like(weight);
      if (bias_needs) grad_bias = at::zeros({weight.size(0)}, weight.options());
      products.add_product(grad_weight, grad_bias, grad, x, in_bfloat16);
    }
    return {grad_x, grad_weight, grad_bias, at::Tensor()};
  }
};

/// Who computes a layer, and of what.
enum class Products { kLibTorch, kExact, kRounded };

Products products_for(const at::Tensor& x, const at::Tensor& weight) {
  const at::ScalarType type = x.scalar_type();
  const bool has_products = x.is_cpu() && x.dim() == 2 && type == weight.scalar_type() &&
                            (type == at::kFloat || type == at::kDouble);
  if (!has_products) return Products::kLibTorch;
  if (!at::autocast::is_autocast_enabled(at::kCPU)) return Products::kExact;
  const bool can_round =
      type == at::kFloat && at::autocast::get_autocast_dtype(at::kCPU) == at::kBFloat16 &&
      kernels::kernels_for<kernels::ProductKernels>(x.device()).rounds(x.size(0), x.size(1));
  return can_round ? Products::kRounded : Products::kLibTorch;
}

}  // namespace

at::Tensor linear(const at::Tensor& x_RI, const at::Tensor& weight_OI, const at::Tensor& bias_O) {
  const Products by = products_for(x_RI, weight_OI);
  if (by == Products::kLibTorch) {
    return bias_O.defined() ? at::linear(x_RI, weight_OI, bias_O) : at::linear(x_RI, weight_OI);
  }
  const bool in_bfloat16 = by == Products::kRounded;
  const bool with_grad =
      at::GradMode::is_enabled() && (x_RI.requires_grad() || weight_OI.requires_grad() ||
                                     (bias_O.defined() && bias_O.requires_grad()));
  if (with_grad) {  // autograd takes no undefined tensor
    return LinearFunction::apply(
        x_RI, weight_OI, bias_O.defined() ? std::optional(bias_O) : std::nullopt, in_bfloat16);
  }
  return kernels::kernels_for<kernels::ProductKernels>(x_RI.device())
      .product(x_RI, weight_OI.t(), bias_O, in_bfloat16);
}

namespace {

/// Whether a layer keeps its input as it is. In bfloat16 rows of graphs may be too few for products
/// of our own.
bool has_own_products(const StepCount& step, const Value& x) {
  const FootprintOptions& options = step.options;
  if (options.precision == "32") return true;
  constexpr int64_t kManyRows = 1 << 20;
  const int64_t rows = options.nodes > 0 ? options.nodes : kManyRows;
  return options.precision == "bf16-mixed" && options.kernels == kernels::KernelSet::kCpu &&
         x.rows.node > 0 &&
         kernels::ProductKernels::cpu().rounds(rows, static_cast<int64_t>(x.width));
}

}  // namespace

LinearSize::LinearSize(const torch::nn::Linear& layer)
    : outputs(static_cast<double>(layer->weight.size(0))),
      parameters(elements_of({layer->weight, layer->bias})) {}

LinearSize::LinearSize(int64_t inputs, int64_t columns)
    : outputs(static_cast<double>(columns)),
      parameters{static_cast<double>(inputs * columns), outputs} {}

CountedProduct count_linear(StepCount& step, const Value& x, const LinearSize& layer) {
  if (!has_own_products(step, x)) return count_linear_of_libtorch(step, x, layer);
  const Value y = step.tape.value(x.rows, layer.outputs);
  step.tape.then(y, [&tape = step.tape, x, parameters = layer.parameters](const Held&) {
    tape.give(x);
    tape.parameters(parameters);
  });
  return {y, nullptr};
}

CountedProduct count_linear_of_libtorch(StepCount& step, const Value& x, const LinearSize& layer) {
  if (step.options.precision == "32") return count_linear(step, x, layer);
  Tape& tape = step.tape;
  const std::vector<double>& parameters = layer.parameters;
  const double weights = std::accumulate(parameters.begin(), parameters.end(), 0.0);
  // Inputs are rounded, each time anew, and kept so.
  const Value x16 = tape.value(x.rows, x.width, kHalf);
  tape.then(x16, [&tape, x = x.without_data()](const Held&) { tape.give(x); });
  const Value weights16 = tape.value(kOnce, weights, kHalf);
  tape.then(weights16, [&tape, parameters](const Held&) { tape.parameters(parameters); });
  const Value y16 = tape.value(x.rows, layer.outputs, kHalf);
  tape.then(y16, [&tape, x16, weights16](const Held&) {
    tape.give(x16);
    tape.give(weights16);
  });
  const Value y = tape.value(x.rows, layer.outputs);
  tape.then(y, [&tape, y16 = y16.without_data()](const Held&) { tape.give(y16); });
  return {y, y16.data};
}

}  // namespace kdgat::model
