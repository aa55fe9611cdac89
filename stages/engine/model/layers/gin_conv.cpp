#include "engine/model/layers/gin_conv.h"

#include <ATen/autocast_mode.h>

#include <algorithm>

#include "engine/kernels/gin.h"
#include "engine/kernels/kernels_for.h"
#include "engine/model/layers/linear.h"
#include "engine/model/layers/noise.h"
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
  return linear(graph_norm ? graph_norm->forward(h_NC, kNoDropout, kNoLayer, batch) : h_NC.relu(),
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

Value GinConvImpl::count(StepCount& step, const Value& x, const Held&) const {
  const Value hidden = count_linear(step, count_sums(step, x), lin_1).value;
  return count_linear(
             step,
             graph_norm ? graph_norm->count(step, hidden) : count_relu_dropout(step, hidden, true),
             lin_2)
      .value;
}

Value GinConvImpl::count_to_norm(StepCount& step, const Value& x, const Held&,
                                 const torch::nn::BatchNorm1dImpl& outer) const {
  // Not on a card, nor with products in 16 bits.
  const bool is_whole =
      step.options.kernels == kernels::KernelSet::kCpu && step.options.precision == "32";
  if (is_whole) return count_layer(step, x, outer);
  const Value hidden = count_linear_of_libtorch(step, count_sums(step, x), lin_1).value;
  const Value inner = count_norm_relu_dropout(step, hidden, *batch_norm);
  return count_norm_relu_dropout(step, count_linear_of_libtorch(step, inner, lin_2).value, outer);
}

/// kernels::gin_sums().
Value GinConvImpl::count_sums(StepCount& step, const Value& x) const {
  if (!eps.defined()) return x;
  Tape& tape = step.tape;
  step.edges_by_source();
  if (step.is_plain()) tape.hold(kEdges * (2 * kFloat * x.width + 2 * kLong));
  const Value sum = tape.value(kNodes, x.width);
  tape.then(sum, [&step, x = x.without_data()](const Held&) {
    if (step.is_plain()) step.tape.hold(floats(kEdges, 2 * x.width));
    step.tape.give(x);
  });
  const Value own = tape.value(kNodes, x.width);
  tape.then(own, [&tape, x](const Held&) {
    tape.give(x);
    const Held product = tape.hold(x.bytes());
    tape.parameters({1});
  });
  Value out = tape.value(kNodes, x.width);
  tape.then(out, [&tape, sum = sum.without_data(), own = own.without_data()](const Held& grad) {
    tape.pass(sum, grad);
    tape.pass(own, grad);
  });
  return out;
}

/// kernels::GinKernels::layer() of the CPU.
Value GinConvImpl::count_layer(StepCount& step, const Value& x,
                               const torch::nn::BatchNorm1dImpl& outer) const {
  Tape& tape = step.tape;
  const auto width = static_cast<double>(lin_1->options.out_features());
  const Held statistics = tape.hold(floats(kOnce, 4 * width));
  const Held summed = eps.defined() ? tape.hold(x.bytes()) : nullptr;
  const Held hidden = tape.hold(floats(kNodes, width)), result = tape.hold(floats(kNodes, width));
  Value out = tape.value(kNodes, width);
  const auto with_norm = [](const torch::nn::Linear& linear,
                            const torch::nn::BatchNorm1dImpl& norm) {
    return elements_of({linear->weight, linear->bias, norm.weight, norm.bias});
  };
  tape.then(out, [&tape, x, statistics, summed, hidden, result, kept = out.data, width,
                  first = with_norm(lin_1, *batch_norm), second = with_norm(lin_2, outer),
                  has_messages = eps.defined()](const Held&) {
    // Sums of runs of graphs, which have so many rows at least.
    const double rows = std::max({192.0, x.width, width});
    const auto sums_of_runs = [rows](double columns) {
      return floats(kNodes * (1 / rows) + kOnce, columns);
    };
    const Held grad = tape.hold(floats(kNodes, width));
    tape.hold(sums_of_runs(second.front()));
    tape.parameters(second);
    const Held grad_x = x.grad ? tape.hold(x.bytes()) : nullptr;
    tape.hold(sums_of_runs(first.front()));
    tape.parameters(first);
    if (has_messages) tape.parameters({1});
    tape.pass(x, grad_x);
  });
  return out;
}

}  // namespace kdgat::model
