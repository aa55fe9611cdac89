#include "engine/model/networks/gat.h"

#include <torch/nn/modules/batchnorm.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "engine/model/layers/edge_convs.h"
#include "engine/model/layers/gat_conv.h"
#include "engine/model/layers/gatv2_conv.h"
#include "engine/model/layers/generator_lock.h"
#include "engine/model/layers/linear.h"
#include "engine/model/layers/mean_convs.h"
#include "engine/model/layers/noise.h"
#include "engine/model/layers/recompute.h"

namespace kdgat::model {

namespace {

// Names of the places that draw noise.
constexpr uint32_t kConv = 1, kHead = 1000;

/// One layer: messages, norm if there is one, ReLU, dropout. `first`: not computed again.
at::Tensor layer(ConvImpl& conv, torch::nn::Module* norm, const at::Tensor& x, double p,
                 uint32_t name, const kernels::BatchTensors& batch, bool first) {
  if (norm == nullptr) return relu_dropout(conv.forward(x, batch), p, name, batch);
  if (const auto* of_graph = norm->as<GraphNormImpl>()) {
    return of_graph->forward(conv.forward(x, batch), p, name, batch);
  }
  return conv.forward_to_norm(x, *norm->as<torch::nn::BatchNorm1dImpl>(), p, name, batch, first);
}

/// layer() on sizes; `attr`: the features of edges, where they are not those of the batch.
Value count_layer(StepCount& step, const ConvImpl& conv, const torch::nn::Module* norm,
                  const Value& x, const Held& attr) {
  if (norm == nullptr) {
    return count_relu_dropout(step, conv.count(step, x, attr), !conv.keeps_result());
  }
  if (const auto* of_graph = norm->as<GraphNormImpl>()) {
    return of_graph->count(step, conv.count(step, x, attr));
  }
  return conv.count_to_norm(step, x, attr, *norm->as<torch::nn::BatchNorm1dImpl>());
}

std::shared_ptr<ConvImpl> make_conv(const GatConfig& config, int64_t inputs) {
  const int64_t hidden = config.hidden, heads = config.heads, edges = config.edge_features;
  if (config.conv == "gatv2") return GatV2Conv(inputs, hidden, heads, edges).ptr();
  if (config.conv == "gcn") return GcnConv(inputs, hidden).ptr();
  if (config.conv == "sage") return SageConv(inputs, hidden).ptr();
  if (config.conv == "gine") return GineConv(inputs, hidden, edges, config.norm).ptr();
  if (config.conv == "pna") return PnaConv(inputs, hidden, edges).ptr();
  if (config.conv == "transformer") return TransformerConv(inputs, hidden, heads, edges).ptr();
  if (config.is_gin()) return GinConv(inputs, hidden, config.conv == "gin", config.norm).ptr();
  return GatConv(inputs, hidden, heads).ptr();
}

Value count_pool(StepCount& step, const Value& x, const std::string& kind) {
  if (kind == "mean") return count_mean_pool(step, x);
  return kind == "sum" ? count_sum_pool(step, x) : count_max_pool(step, x);
}

at::Tensor pool(const at::Tensor& x_NC, const std::string& kind,
                const kernels::BatchTensors& batch) {
  if (kind == "mean") return mean_pool(x_NC, batch);
  return kind == "sum" ? sum_pool(x_NC, batch) : max_pool(x_NC, batch);
}

}  // namespace

GraphClassifierImpl::GraphClassifierImpl(const GatConfig& config) : config_(config) {
  input = register_module("input",
                          Input(config.num_ids, config.node_features, config.embedding_dim, config,
                                config.reads_edges() ? config.edge_features : 0, config.has_ids));
  register_module("convs", convs);
  if (config.norm != "none") register_module("norms", norms);
  int64_t width = input->width();
  for (int64_t i = 0; i < config.layers; ++i) {
    convs->push_back(make_conv(config, width));
    width = config.width();
    if (config.norm == "graph") norms->push_back(GraphNorm(width));
    if (config.norm == "batch") norms->push_back(torch::nn::BatchNorm1d(width));
  }
  if (config.jk == "lstm") {
    jk = register_module("jk", JumpingLstm(width, config.layers));
  } else {
    width *= config.layers;
  }
  head =
      register_module("head", Perceptron(width, config.classes, config.fc_layers, config.dropout));
  if (config.regression) {
    target_mean = register_buffer("target_mean", torch::zeros({config.classes}));
    target_deviation = register_buffer("target_deviation", torch::ones({config.classes}));
  }
  keep_monotone();
}

std::vector<at::Tensor> GraphClassifierImpl::never_negative() const {
  std::vector<at::Tensor> out;
  for (const torch::nn::Module* module :
       std::initializer_list<const torch::nn::Module*>{convs.get(), norms.get(), head.get()}) {
    for (const auto& one : module->named_parameters()) {
      if (one.key().ends_with("weight") && !one.value().is_same(head->last()->weight)) {
        out.push_back(one.value());
      }
    }
  }
  return out;
}

void GraphClassifierImpl::keep_monotone() {
  if (!config_.monotone) return;
  const at::NoGradGuard no_grad;
  for (const at::Tensor& weight : never_negative()) weight.clamp_min_(0);
  head->last()->weight[0].clamp_max_(0);
  head->last()->weight[1].clamp_min_(0);
  for (const auto& conv : *convs) {
    if (at::Tensor& eps = conv->as<GinConvImpl>()->eps; eps.defined()) eps.clamp_min_(-1);
  }
}

void GraphClassifierImpl::set_mean_log_degree(double mean) {
  const at::NoGradGuard no_grad;
  for (const auto& conv : *convs) {
    if (auto* pna = conv->as<PnaConvImpl>()) pna->mean_log_degree.fill_(mean);
  }
}

at::Tensor GraphClassifierImpl::pooled(const kernels::BatchTensors& given) {
  kernels::BatchTensors batch = given;
  if (reads_edges()) batch.edge_attr_ED = input->edges(given);
  const double p = is_training() ? config_.dropout : 0.0;
  at::Tensor h = input->forward(batch);
  std::vector<at::Tensor> states;
  for (std::size_t i = 0; i < convs->size(); ++i) {
    const auto conv = convs->ptr<ConvImpl>(i);
    const auto norm = i < norms->size() ? norms->ptr(i) : nullptr;
    const auto body = [conv, norm, p, i, batch](const at::Tensor& x, bool first) {
      return layer(*conv, norm.get(), x, p, kConv + static_cast<uint32_t>(i), batch, first);
    };
    if (checkpointing && is_training()) {
      std::vector<at::Tensor> parameters = conv->parameters();
      if (norm)
        for (const at::Tensor& t : norm->parameters()) parameters.push_back(t);
      h = checkpoint(h, parameters, body);
    } else {
      h = body(h, true);
    }
    states.push_back(jk ? h : pool(h, config_.pooling, batch));
  }
  return jk ? pool(jk->forward(states), config_.pooling, batch) : at::cat(states, 1);
}

at::Tensor GraphClassifierImpl::classify(const at::Tensor& pooled_GF,
                                         const kernels::BatchTensors& batch) {
  return linear(head->hidden(pooled_GF, batch, kHead, true), head->last());
}

Value GraphClassifierImpl::count(StepCount& step) const {
  const Value pooled = count_pooled(step);
  return count_linear(step, head->count(step, pooled, true), head->last()).value;
}

Value GraphClassifierImpl::count_pooled(StepCount& step) const {
  Tape& tape = step.tape;
  const Held attr = reads_edges() ? input->count_edges(step) : nullptr;
  Value h = input->count(step);
  std::vector<Value> states;
  for (std::size_t i = 0; i < convs->size(); ++i) {
    tape.enter("layer " + std::to_string(i));
    const auto conv = convs->ptr<ConvImpl>(i);
    const auto norm = i < norms->size() ? norms->ptr(i) : nullptr;
    h = step.checkpoint(h, [&step, conv, norm, attr](const Value& x) {
      return count_layer(step, *conv, norm.get(), x, attr);
    });
    states.push_back(jk ? h : count_pool(step, h, config_.pooling));
  }
  tape.enter(jk ? "the LSTM" : "the perceptron");
  if (jk) return count_pool(step, jk->count(step, states), config_.pooling);
  return step.tape.joined(states, kGraphs, h.width * static_cast<double>(states.size()));
}

GraphClassifier make_model(const GatConfig& config) {
  const GeneratorLock generator = hold_generator();
  return GraphClassifier(config);
}

}  // namespace kdgat::model
