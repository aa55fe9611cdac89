#include "engine/model/layers/mean_convs.h"

#include "engine/kernels/full_precision.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/sums.h"
#include "engine/model/layers/init.h"
#include "engine/model/layers/linear.h"

namespace kdgat::model {

namespace {

using kernels::SumWeights;

/// A sum over neighbours and a product with a matrix give the same in either order. The sum comes
/// first where it is of fewer columns, or of as many: of features nobody wants a gradient.
bool sums_first(const torch::nn::Linear& lin) {
  return lin->options.in_features() <= lin->options.out_features();
}

at::Tensor weighted(const at::Tensor& given_NC, const SumWeights& weights,
                    const kernels::BatchTensors& batch) {
  // Sums stay in the parameters' precision, also under autocast: a node may have many neighbours.
  const at::Tensor x_NC = kernels::full(given_NC);
  return kernels::kernels_for<kernels::SumKernels>(x_NC.device()).weighted(x_NC, weights, batch);
}

SumWeights of_mean(const at::Tensor& x, const kernels::BatchTensors& batch) {
  return {{}, kernels::neighbour_counts(kernels::full(x), batch).clamp_min(1).reciprocal(), false};
}

SumWeights of_both_degrees(const at::Tensor& x, const kernels::BatchTensors& batch) {
  const at::Tensor factor = (kernels::neighbour_counts(kernels::full(x), batch) + 1).rsqrt();
  return {factor, factor, true};
}

/// What weighted() holds; `before`: rows have a factor where they enter.
Value count_weighted(StepCount& step, const Value& x, bool before) {
  Tape& tape = step.tape;
  const Held factor = tape.hold(floats(kNodes, 1));
  if (step.options.kernels != kernels::KernelSet::kCpu) {
    step.edges_by_source();
    const Value entering = before ? tape.elementwise(x, Keeps::kNothing) : x;
    if (step.is_plain()) tape.hold(kEdges * (2 * kFloat * x.width + 2 * kLong));
    const Value sum = tape.elementwise(entering, Keeps::kNothing);
    return tape.elementwise(before ? tape.sum(sum, entering) : sum, Keeps::kNothing);
  }
  const Held entering = before ? tape.hold(x.bytes()) : nullptr;
  Value out = tape.value(kNodes, x.width);
  tape.then(out, [&tape, x = x.without_data(), factor](const Held&) {
    const Held scaled = tape.hold(x.bytes());
    tape.give(x);
  });
  return out;
}

}  // namespace

GcnConvImpl::GcnConvImpl(int64_t inputs, int64_t width) {
  lin = register_module("lin", linear_without_bias(inputs, width));
  bias = register_parameter("bias", torch::zeros({width}));
  glorot(lin->weight);
}

at::Tensor GcnConvImpl::forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) {
  const SumWeights weights = of_both_degrees(x_NF, batch);
  if (sums_first(lin)) return linear(weighted(x_NF, weights, batch), lin->weight, bias);
  return weighted(linear(x_NF, lin), weights, batch) + bias;
}

Value GcnConvImpl::count(StepCount& step, const Value& x, const Held&) const {
  if (sums_first(lin)) {
    LinearSize with_bias(lin);
    with_bias.parameters.push_back(with_bias.outputs);
    return count_linear(step, count_weighted(step, x, true), with_bias).value;
  }
  Tape& tape = step.tape;
  const Value sum = count_weighted(step, count_linear(step, x, lin).value, true);
  Value out = tape.value(sum.rows, sum.width);
  tape.then(out, [&tape, sum = sum.without_data()](const Held& grad) {
    tape.parameters({sum.width});
    tape.pass(sum, grad);
  });
  return out;
}

SageConvImpl::SageConvImpl(int64_t inputs, int64_t width) {
  lin_l = register_module("lin_l", torch::nn::Linear(inputs, width));
  lin_r = register_module("lin_r", linear_without_bias(inputs, width));
}

at::Tensor SageConvImpl::forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) {
  const SumWeights weights = of_mean(x_NF, batch);
  if (sums_first(lin_l)) {
    const at::Tensor mean_NC = linear(weighted(x_NF, weights, batch), lin_l);
    return mean_NC + linear(x_NF, lin_r);
  }
  const at::Tensor mean_NC = weighted(linear(x_NF, lin_l->weight, at::Tensor()), weights, batch);
  return mean_NC + linear(x_NF, lin_r->weight, lin_l->bias);
}

Value SageConvImpl::count(StepCount& step, const Value& x, const Held&) const {
  Tape& tape = step.tape;
  const auto bias = static_cast<double>(lin_l->options.out_features());
  if (sums_first(lin_l)) {
    const Value mean = count_linear(step, count_weighted(step, x, false), lin_l).value;
    return tape.sum(mean, count_linear(step, x, lin_r).value);
  }
  LinearSize without(lin_l), with(lin_r);
  without.parameters.pop_back();
  with.parameters.push_back(bias);
  const Value mean = count_weighted(step, count_linear(step, x, without).value, false);
  return tape.sum(mean, count_linear(step, x, with).value);
}

}  // namespace kdgat::model
