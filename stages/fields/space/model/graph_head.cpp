#include "fields/space/model/graph_head.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/graph/shape.h"
#include "engine/kernels/full_precision.h"
#include "engine/model/layers/init.h"

namespace kdgat::space {

namespace {

torch::nn::Linear glorot_linear(int64_t in, int64_t out) {
  torch::nn::Linear linear(in, out);
  model::glorot(linear->weight);
  torch::nn::init::zeros_(linear->bias);
  return linear;
}

at::Tensor shapes_of(const graph::GraphBatch& batch) {
  const std::vector<float> shapes = graph::shape_features(batch);
  return at::tensor(shapes).view({batch.graphs, -1});
}

}  // namespace

at::Tensor readout(const at::Tensor& h_NH, const SpatialTensors& batch, const std::string& kind) {
  const at::Tensor h = kernels::full(h_NH);
  at::Tensor sum = at::zeros({batch.graphs, h.size(1)}, h.options()).index_add(0, batch.graph_N, h);
  if (kind != "mean") return sum;
  const at::Tensor count = at::bincount(batch.graph_N, {}, batch.graphs).clamp_min(1);
  return sum / count.unsqueeze(1);
}

GraphModelImpl::GraphModelImpl(const SgmpConfig& config, GraphHeadConfig head_config)
    : head_config_(std::move(head_config)) {
  encoder = register_module("encoder", SgmpEncoder(config));
  make_head(config.hidden);
}

GraphModelImpl::GraphModelImpl(GraphHeadConfig head_config) : head_config_(std::move(head_config)) {
  const auto width = static_cast<int64_t>(graph::kShapeFeatures.size());
  shape_mean_ = register_buffer("shape_mean", at::zeros({width}));
  shape_deviation_ = register_buffer("shape_deviation", at::ones({width}));
  make_head(width);
}

void GraphModelImpl::make_head(int64_t width) {
  const int64_t outputs = std::max<int64_t>(1, head_config_.classes);
  if (head_config_.head == "published") {
    lin1_ = register_module("lin1", glorot_linear(width, width / 2));
    width /= 2;
  }
  lin2_ = register_module("lin2", glorot_linear(width, outputs));
  if (head_config_.is_regression()) {
    target_mean = register_buffer("target_mean", at::zeros({}));
    target_deviation = register_buffer("target_deviation", at::ones({}));
  }
}

void GraphModelImpl::fit_shape(const graph::GraphBatch& batch) {
  const at::NoGradGuard no_grad;
  const at::Tensor shapes = shapes_of(batch);
  shape_mean_.copy_(shapes.mean(0));
  const at::Tensor deviation = shapes.std(0, /*unbiased=*/false);
  shape_deviation_.copy_(at::where(deviation > 0, deviation, at::ones_like(deviation)));
}

at::Tensor GraphModelImpl::encode(const graph::GraphBatch& batch) {
  if (!encoder) {
    return (shapes_of(batch).to(shape_mean_.options()) - shape_mean_) / shape_deviation_;
  }
  const SpatialTensors tensors = to_spatial_tensors(batch, encoder);
  return readout(encoder->forward({tensors.x_NF, tensors.pos_N3, out_edges(batch)}), tensors,
                 head_config_.readout);
}

at::Tensor GraphModelImpl::head(const at::Tensor& readout_GH) {
  at::Tensor x = readout_GH;
  if (lin1_) x = lin1_->forward(x).relu();
  return kernels::full(lin2_->forward(x));
}

Value GraphModelImpl::count(SpatialCount& step, bool frozen) const {
  Tape& tape = step.tape;
  Value read;
  if (encoder) {
    tape.enter("the encoder");
    Value states;
    if (frozen) {
      const auto width = static_cast<double>(encoder->config().hidden);
      const Value none{kNodes, width, model::kFloat, nullptr, nullptr};
      states = tape.checkpoint(none, [&](const Value&) { return encoder->count(step); });
      states.grad = nullptr;
    } else {
      states = encoder->count(step);
    }
    tape.enter("the head");
    read = tape.value(model::kGraphs, states.width);
    tape.then(read, [&tape, states = states.without_data()](const Held&) { tape.give(states); });
  } else {
    tape.enter("the head");
    read = tape.value(model::kGraphs, static_cast<double>(shape_mean_.numel()));
  }
  if (frozen) read.grad = nullptr;
  if (lin1_) read = tape.elementwise(step.linear(read, lin1_), Keeps::kResult);
  return step.linear(read, lin2_);
}

}  // namespace kdgat::space
