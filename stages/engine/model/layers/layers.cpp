#include "engine/model/layers/layers.h"

#include <string>
#include <utility>

#include "engine/kernels/full_precision.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/norm.h"
#include "engine/kernels/sums.h"
#include "engine/model/layers/linear.h"
#include "engine/model/layers/noise.h"
#include "engine/model/layers/norm.h"
#include "engine/model/layers/recompute.h"

namespace kdgat::model {

BlockImpl::BlockImpl(int64_t inputs, int64_t width, int64_t heads, double dropout,
                     const std::string& norm_kind)
    : dropout_(dropout) {
  conv = register_module(
      "conv", GatConv(inputs, heads > 0 && width % heads == 0 ? width / heads : width, heads));
  if (norm_kind == "graph") {
    graph_norm = register_module("norm", GraphNorm(conv->width()));
  } else {
    norm = register_module("norm", torch::nn::BatchNorm1d(conv->width()));
  }
}

at::Tensor BlockImpl::forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch,
                              uint32_t layer, bool checkpointing) {
  const auto body = [this, batch, layer](const at::Tensor& x, bool first) {
    const double p = is_training() ? dropout_ : 0.0;
    const at::Tensor h = conv->forward(x, batch);
    return graph_norm ? graph_norm->forward(h, p, layer, batch)
                      : norm_relu_dropout(h, *norm, p, layer, batch, first);
  };
  if (!checkpointing || !is_training()) return body(x_NF, true);
  return checkpoint(x_NF, parameters(), body);
}

Value BlockImpl::count(StepCount& step, const Value& given) const {
  return step.checkpoint(given, [this, &step](const Value& x) {
    const Value h = conv->count(step, x);
    return graph_norm ? graph_norm->count(step, h) : count_norm_relu_dropout(step, h, *norm);
  });
}

PerceptronImpl::PerceptronImpl(int64_t width, int64_t outputs, int64_t layers, double dropout)
    : dropout_(dropout) {
  for (int64_t i = 0; i < layers; ++i) {
    linears_.push_back(register_module(std::to_string(3 * i),
                                       torch::nn::Linear(width, i + 1 < layers ? width : outputs)));
  }
}

at::Tensor PerceptronImpl::hidden(at::Tensor x, const kernels::BatchTensors& batch, uint32_t layer,
                                  bool of_graphs) {
  const double p = is_training() ? dropout_ : 0.0;
  for (std::size_t i = 0; i + 1 < linears_.size(); ++i) {
    const uint32_t name = layer + static_cast<uint32_t>(i);
    at::Tensor y = linear(x, linears_[i]);
    x = of_graphs ? relu_dropout_of_graphs(y, p, name, batch)
                  : relu_dropout(std::move(y), p, name, batch);
  }
  return x;
}

Value PerceptronImpl::count(StepCount& step, const Value& given, bool of_graphs) const {
  Value x = given;
  for (std::size_t i = 0; i + 1 < linears_.size(); ++i) {
    x = count_relu_dropout(step, count_linear(step, x, linears_[i]).value, !of_graphs);
  }
  return x;
}

at::Tensor neighbour_mean(const at::Tensor& given_NC, const kernels::BatchTensors& batch) {
  const at::Tensor x_NC = kernels::full(given_NC);
  const kernels::SumKernels& sums = kernels::kernels_for<kernels::SumKernels>(x_NC.device());
  const at::Tensor degree_N1 = sums.neighbours(at::ones({batch.nodes, 1}, x_NC.options()), batch);
  return sums.neighbours(x_NC, batch) / degree_N1.clamp_min(1);
}

at::Tensor mean_pool(const at::Tensor& given_NC, const kernels::BatchTensors& batch) {
  const at::Tensor x_NC = kernels::full(given_NC);
  return kernels::kernels_for<kernels::NormKernels>(x_NC.device()).mean_pool(x_NC, batch);
}

at::Tensor sum_pool(const at::Tensor& x_NC, const kernels::BatchTensors& batch) {
  const at::Tensor mean_GC = mean_pool(x_NC, batch);
  return mean_GC * at::diff(batch.node_ptr_G1).to(mean_GC.scalar_type()).unsqueeze(1);
}

at::Tensor max_pool(const at::Tensor& given_NC, const kernels::BatchTensors& batch) {
  const at::Tensor x_NC = kernels::full(given_NC);
  const at::Tensor graph_NC = kernels::node_graphs(batch).unsqueeze(1).expand_as(x_NC);
  return at::zeros({batch.graphs, x_NC.size(1)}, x_NC.options())
      .scatter_reduce(0, graph_NC, x_NC, "amax", /*include_self=*/false);
}

Held count_neighbour_mean(StepCount& step, double columns) {
  Tape& tape = step.tape;
  const Held ones = tape.hold(kNodes * kFloat), degree = tape.hold(kNodes * kFloat),
             sum = tape.hold(floats(kNodes, columns));
  return tape.hold(floats(kNodes, columns));
}

Value count_mean_pool(StepCount& step, const Value& x) {
  Tape& tape = step.tape;
  Value out = tape.value(kGraphs, x.width);
  tape.then(out, [&tape, x = x.without_data(), out = out.without_data()](const Held&) {
    const Held dense = tape.hold(out.bytes());  // its columns of all layers' gradient
    tape.give(x);
  });
  return out;
}

Value count_sum_pool(StepCount& step, const Value& x) {
  return step.tape.elementwise(count_mean_pool(step, x), Keeps::kNothing);
}

Value count_max_pool(StepCount& step, const Value& x) {
  Tape& tape = step.tape;
  const Held zeros = tape.hold(floats(kGraphs, x.width));
  Value out = tape.value(kGraphs, x.width);
  const Held graph = tape.hold(kNodes * kLong);
  tape.then(out, [&tape, x, zeros, kept = out.data, graph, out = out.without_data()](const Held&) {
    // Of each node the maximum of its graph, whether it has it, as a bit and twice as a number, and
    // its share of the gradient; of each graph how many have it, and what each gets.
    const Held of_nodes = tape.hold(x.bytes() * 4 + x.rows * x.width),
               of_graphs = tape.hold(out.bytes() * 4);
    tape.give(x);
  });
  return out;
}

}  // namespace kdgat::model
