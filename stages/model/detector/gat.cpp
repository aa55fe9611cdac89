#include "model/detector/gat.h"

#include "model/layers/generator_lock.h"
#include "model/layers/noise.h"
#include "model/layers/recompute.h"

namespace kdgat::model {

namespace {

// Names of the places that draw noise.
constexpr uint32_t kConv = 1, kHead = 1000;

/// One layer: attention, norm if there is one, ReLU, dropout.
at::Tensor layer(torch::nn::Module& conv, const torch::nn::Module* norm, const at::Tensor& x,
                 double p, uint32_t name, const BatchTensors& batch) {
  auto* second = conv.as<GatV2ConvImpl>();
  const at::Tensor h =
      second != nullptr ? second->forward(x, batch) : conv.as<GatConvImpl>()->forward(x, batch);
  if (norm == nullptr) return relu_dropout(h, p, name, batch);
  return graph_norm_relu_dropout(h, *norm->as<GraphNormImpl>(), p, name, batch);
}

}  // namespace

GraphClassifierImpl::GraphClassifierImpl(const GatConfig& config) : config_(config) {
  const bool second = config.conv == "gatv2";
  input = register_module("input", Input(config.num_ids, config.node_features, config.embedding_dim,
                                         config, second ? config.edge_features : 0));
  register_module("convs", convs);
  if (config.norm == "graph") register_module("norms", norms);
  int64_t width = input->width();
  for (int64_t i = 0; i < config.layers; ++i) {
    if (second) {
      convs->push_back(GatV2Conv(width, config.hidden, config.heads, config.edge_features));
    } else {
      convs->push_back(GatConv(width, config.hidden, config.heads));
    }
    width = config.hidden * config.heads;
    if (config.norm == "graph") norms->push_back(GraphNorm(width));
  }
  if (config.jk == "lstm") {
    jk = register_module("jk", JumpingLstm(width, config.layers));
  } else {
    width *= config.layers;
  }
  head = register_module("head", Perceptron(width, 2, config.fc_layers, config.dropout));
}

at::Tensor GraphClassifierImpl::pooled(const BatchTensors& given) {
  BatchTensors batch = given;
  if (reads_edges()) batch.edge_attr_ED = input->edges(given);
  const double p = is_training() ? config_.dropout : 0.0;
  at::Tensor h = input->forward(batch);
  std::vector<at::Tensor> states;
  for (std::size_t i = 0; i < convs->size(); ++i) {
    const auto conv = convs->ptr(i), norm = i < norms->size() ? norms->ptr(i) : nullptr;
    const auto body = [conv, norm, p, i, batch](const at::Tensor& x, bool) {
      return layer(*conv, norm.get(), x, p, kConv + static_cast<uint32_t>(i), batch);
    };
    if (checkpointing && is_training()) {
      std::vector<at::Tensor> parameters = conv->parameters();
      if (norm)
        for (const at::Tensor& t : norm->parameters()) parameters.push_back(t);
      h = checkpoint(h, parameters, body);
    } else {
      h = body(h, true);
    }
    states.push_back(jk ? h : mean_pool(h, batch));
  }
  return jk ? mean_pool(jk->forward(states), batch) : at::cat(states, 1);
}

at::Tensor GraphClassifierImpl::classify(const at::Tensor& pooled_GF, const BatchTensors& batch) {
  return head->last()->forward(head->hidden(pooled_GF, batch, kHead, true));
}

GraphClassifier make_model(const GatConfig& config) {
  const GeneratorLock generator = hold_generator();
  return GraphClassifier(config);
}

}  // namespace kdgat::model
