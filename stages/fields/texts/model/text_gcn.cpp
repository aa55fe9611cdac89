#include "fields/texts/model/text_gcn.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <string>
#include <utility>

#include "engine/kernels/batch_tensors.h"
#include "engine/kernels/cpu/parallel.h"
#include "engine/model/layers/noise.h"

namespace kdgat::texts {

namespace {

constexpr uint32_t kDropLayer = 0x7e70;  // names these layers' noise

/// Glorot and Bengio's uniform distribution.
at::Tensor drawn(int64_t inputs, int64_t outputs, at::Generator& generator) {
  const double bound = std::sqrt(6.0 / static_cast<double>(inputs + outputs));
  return at::empty({inputs, outputs}, at::kFloat).uniform_(-bound, bound, generator);
}

/// Runs of rows as a batch of graphs, which is what noise has its keys for.
kernels::BatchTensors runs_of(const at::Tensor& x_NC, const graph::NoiseKey& noise) {
  const int64_t nodes = x_NC.size(0);
  kernels::BatchTensors out;
  out.x_NF = x_NC;
  out.nodes = nodes;
  out.graphs = kernels::row_blocks(nodes);
  out.graph_id_G = at::arange(out.graphs, at::kLong);
  out.node_ptr_G1 =
      at::arange(out.graphs + 1, at::kInt).mul_(kernels::kBlockRows).clamp_max_(nodes);
  out.noise = noise;
  return out;
}

}  // namespace

ProductChain make_chain(const SparseMatrix& matrix, const NodeMask& wanted, int64_t layers,
                        bool all_nodes) {
  const NodeMask all(wanted.size(), true);
  ProductChain chain(static_cast<std::size_t>(layers));
  NodeMask outputs = all_nodes ? all : wanted;
  for (std::size_t layer = chain.size(); layer-- > 0;) {
    // The first layer's inputs are weights: all of them are learned.
    NodeMask inputs = layer == 0 || all_nodes ? all : neighbours(matrix, outputs);
    chain[layer] = std::make_shared<SparseProduct>(matrix, outputs, inputs);
    outputs = std::move(inputs);
  }
  return chain;
}

TextGcnImpl::TextGcnImpl(TextGcnConfig config, uint64_t seed) : config_(std::move(config)) {
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const bool is_gcn = config_.model == "text_gcn";
  std::vector<int64_t> widths = {config_.nodes};
  if (is_gcn) widths.insert(widths.end(), config_.hidden_dims.begin(), config_.hidden_dims.end());
  const bool is_mlp = is_gcn && config_.pred_type == "mlp";
  widths.push_back(is_mlp ? widths.back() : config_.classes);
  const bool has_bias = config_.bias || !is_gcn;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const std::string number = std::to_string(layer + 1);
    const int64_t outputs = widths[layer + 1];
    const auto add = [&](const char* name, at::Tensor value) {
      return register_parameter(name + number, std::move(value));
    };
    weights_.push_back(add("weight", drawn(widths[layer], outputs, generator)));
    if (has_bias) biases_.push_back(add("bias", at::zeros({outputs})));
    const bool is_activated = is_mlp || layer + 2 < widths.size();
    if (is_gcn && is_activated && config_.act == "prelu")
      slopes_.push_back(add("slope", at::full({1}, 0.25)));
    if (is_gcn && config_.use_bn) {
      norms_.push_back(register_module("norm" + number, torch::nn::BatchNorm1d(outputs)));
    }
  }
  if (!is_mlp) return;
  for (int64_t inputs = widths.back(), outputs = 0; outputs != config_.classes; inputs = outputs) {
    outputs = inputs / 2 > config_.classes ? inputs / 2 : config_.classes;
    const std::string number = std::to_string(head_weights_.size() + 1);
    head_weights_.push_back(
        register_parameter("head_weight" + number, drawn(inputs, outputs, generator)));
    head_biases_.push_back(register_parameter("head_bias" + number, at::zeros({outputs})));
  }
}

at::Tensor TextGcnImpl::begin(const SparseProduct& first) { return first(weights_.front()); }

at::Tensor TextGcnImpl::add_bias(const at::Tensor& x_NC, std::size_t layer) const {
  return biases_.empty() ? x_NC : x_NC + biases_[layer];
}

at::Tensor TextGcnImpl::normed(const at::Tensor& x_NC, std::size_t layer) {
  return norms_.empty() ? x_NC : norms_[layer](x_NC);
}

/// act, norm and dropout of a hidden layer.
at::Tensor TextGcnImpl::activate(const at::Tensor& x_NC, std::size_t layer,
                                 const graph::NoiseKey& noise) {
  const double p = is_training() ? config_.dropout : 0;
  const auto name = kDropLayer + static_cast<uint32_t>(layer);
  const kernels::BatchTensors runs = runs_of(x_NC, noise);
  if (config_.act == "relu" && norms_.empty()) {
    return model::relu_dropout(x_NC, p, name, runs);  // one pass; it keeps one bit of each number
  }
  at::Tensor y_NC;
  if (config_.act == "relu") y_NC = at::relu(x_NC);
  if (config_.act == "prelu") y_NC = at::prelu(x_NC, slopes_[layer]);
  if (config_.act == "sigmoid") y_NC = at::sigmoid(x_NC);
  if (config_.act == "tanh") y_NC = at::tanh(x_NC);
  y_NC = normed(y_NC, layer);
  if (p == 0) return y_NC;
  const at::Tensor kept = model::relu_dropout(at::ones_like(y_NC).detach(), p, name, runs);
  return y_NC * kept;
}

at::Tensor TextGcnImpl::finish(at::Tensor sum, const ProductChain& chain,
                               const graph::NoiseKey& noise) {
  if (config_.model == "sgc") {
    for (std::size_t k = 1; k < chain.size(); ++k) sum = (*chain[k])(sum);
    return add_bias(sum, 0);
  }
  if (config_.model == "ssgc") {
    at::Tensor total = sum;
    for (std::size_t k = 1; k < chain.size(); ++k) {
      sum = (*chain[k])(sum);
      total = total + sum;
    }
    const double share = (1 - config_.alpha) / static_cast<double>(chain.size());
    return add_bias(total * share + weights_.front() * config_.alpha, 0);
  }
  for (std::size_t layer = 1; layer < chain.size(); ++layer) {
    const at::Tensor h_NC = activate(add_bias(std::exchange(sum, {}), layer - 1), layer - 1, noise);
    sum = (*chain[layer])(h_NC.mm(weights_[layer]));
  }
  const std::size_t last = chain.size() - 1;
  if (head_weights_.empty()) return normed(add_bias(sum, last), last);
  at::Tensor x_NC = activate(add_bias(std::exchange(sum, {}), last), last, noise);
  for (std::size_t i = 0; i < head_weights_.size(); ++i) {
    x_NC = at::addmm(head_biases_[i], x_NC, head_weights_[i]);
    if (i + 1 < head_weights_.size()) x_NC = at::relu(x_NC);
  }
  return x_NC;
}

}  // namespace kdgat::texts
