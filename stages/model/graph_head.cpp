#include "model/graph_head.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "model/full_precision.h"
#include "model/init.h"

namespace kdgat::model {

namespace {

torch::nn::Linear glorot_linear(int64_t in, int64_t out) {
  torch::nn::Linear linear(in, out);
  glorot(linear->weight);
  torch::nn::init::zeros_(linear->bias);
  return linear;
}

}  // namespace

at::Tensor readout(const at::Tensor& h_NH, const SpatialTensors& batch, const std::string& kind) {
  const at::Tensor h = full(h_NH);
  const at::Tensor sum =
      at::zeros({batch.graphs, h.size(1)}, h.options()).index_add(0, batch.graph_N, h);
  if (kind != "mean") return sum;
  const at::Tensor count = at::bincount(batch.graph_N, {}, batch.graphs).clamp_min(1);
  return sum / count.unsqueeze(1);
}

GraphModelImpl::GraphModelImpl(const SgmpConfig& config, GraphHeadConfig head_config)
    : head_config_(std::move(head_config)) {
  encoder = register_module("encoder", SgmpEncoder(config));
  const int64_t outputs = std::max<int64_t>(1, head_config_.classes);
  int64_t width = config.hidden;
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

at::Tensor GraphModelImpl::encode(const graph::GraphBatch& batch) {
  const SpatialTensors tensors = to_spatial_tensors(batch, encoder);
  return readout(encoder->forward({tensors.x_NF, tensors.pos_N3, out_edges(batch)}), tensors,
                 head_config_.readout);
}

at::Tensor GraphModelImpl::head(const at::Tensor& readout_GH) {
  at::Tensor x = readout_GH;
  if (lin1_) x = lin1_->forward(x).relu();
  return full(lin2_->forward(x));
}

}  // namespace kdgat::model
