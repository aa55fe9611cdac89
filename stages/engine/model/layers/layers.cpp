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
    return graph_norm ? graph_norm_relu_dropout(h, *graph_norm, p, layer, batch)
                      : norm_relu_dropout(h, *norm, p, layer, batch, first);
  };
  if (!checkpointing || !is_training()) return body(x_NF, true);
  return checkpoint(x_NF, parameters(), body);
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

}  // namespace kdgat::model
