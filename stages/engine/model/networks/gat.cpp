#include "engine/model/networks/gat.h"

#include <torch/nn/modules/batchnorm.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "engine/model/layers/generator_lock.h"
#include "engine/model/layers/linear.h"
#include "engine/model/layers/noise.h"
#include "engine/model/layers/norm.h"
#include "engine/model/layers/recompute.h"

namespace kdgat::model {

namespace {

// Names of the places that draw noise.
constexpr uint32_t kConv = 1, kHead = 1000;

at::Tensor messages(torch::nn::Module& conv, const at::Tensor& x,
                    const kernels::BatchTensors& batch) {
  if (auto* gin = conv.as<GinConvImpl>()) return gin->forward(x, batch);
  if (auto* second = conv.as<GatV2ConvImpl>()) return second->forward(x, batch);
  return conv.as<GatConvImpl>()->forward(x, batch);
}

/// One layer: messages, norm if there is one, ReLU, dropout. `first`: not computed again.
at::Tensor layer(torch::nn::Module& conv, torch::nn::Module* norm, const at::Tensor& x, double p,
                 uint32_t name, const kernels::BatchTensors& batch, bool first) {
  auto* batch_norm = norm != nullptr ? norm->as<torch::nn::BatchNorm1dImpl>() : nullptr;
  if (auto* gin = conv.as<GinConvImpl>(); gin != nullptr && batch_norm != nullptr) {
    return gin->forward_to_norm(x, *batch_norm, p, name, batch, first);
  }
  if (norm == nullptr) return relu_dropout(messages(conv, x, batch), p, name, batch);
  const at::Tensor h = messages(conv, x, batch);
  if (const auto* of_graph = norm->as<GraphNormImpl>()) {
    return of_graph->forward(h, p, name, batch);
  }
  return norm_relu_dropout(h, *batch_norm, p, name, batch, first);
}

/// layer() on sizes; `attr`: the features of edges, where they are not those of the batch.
Value count_layer(StepCount& step, const torch::nn::Module& conv, const torch::nn::Module* norm,
                  const Value& x, const Held& attr) {
  const auto* batch_norm = norm != nullptr ? norm->as<torch::nn::BatchNorm1dImpl>() : nullptr;
  const auto* gin = conv.as<GinConvImpl>();
  if (gin != nullptr && batch_norm != nullptr) return gin->count_to_norm(step, x, *batch_norm);
  const auto* second = conv.as<GatV2ConvImpl>();
  const Value h = gin != nullptr      ? gin->count(step, x)
                  : second != nullptr ? second->count(step, x, attr)
                                      : conv.as<GatConvImpl>()->count(step, x);
  if (norm == nullptr) return count_relu_dropout(step, h, second == nullptr);
  if (const auto* of_graph = norm->as<GraphNormImpl>()) return of_graph->count(step, h);
  return count_norm_relu_dropout(step, h, *batch_norm);
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
  const bool second = config.conv == "gatv2";
  input =
      register_module("input", Input(config.num_ids, config.node_features, config.embedding_dim,
                                     config, second ? config.edge_features : 0, config.has_ids));
  register_module("convs", convs);
  if (config.norm != "none") register_module("norms", norms);
  int64_t width = input->width();
  for (int64_t i = 0; i < config.layers; ++i) {
    if (config.is_plain()) {
      convs->push_back(GinConv(width, config.hidden, config.conv == "gin", config.norm));
    } else if (second) {
      convs->push_back(GatV2Conv(width, config.hidden, config.heads, config.edge_features));
    } else {
      convs->push_back(GatConv(width, config.hidden, config.heads));
    }
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

at::Tensor GraphClassifierImpl::pooled(const kernels::BatchTensors& given) {
  kernels::BatchTensors batch = given;
  if (reads_edges()) batch.edge_attr_ED = input->edges(given);
  const double p = is_training() ? config_.dropout : 0.0;
  at::Tensor h = input->forward(batch);
  std::vector<at::Tensor> states;
  for (std::size_t i = 0; i < convs->size(); ++i) {
    const auto conv = convs->ptr(i), norm = i < norms->size() ? norms->ptr(i) : nullptr;
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
    const auto conv = convs->ptr(i), norm = i < norms->size() ? norms->ptr(i) : nullptr;
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
