#include "model/gat.h"

#include "model/checkpoint.h"

namespace kdgat::model {

namespace {

// Names of the places that draw noise.
constexpr uint32_t kConv = 1, kHead = 1000;

}  // namespace

GraphClassifierImpl::GraphClassifierImpl(const GatConfig& config) : config_(config) {
  input =
      register_module("input", Input(config.num_ids, config.node_features, config.embedding_dim));
  register_module("convs", convs);
  int64_t width = input->width();
  for (int64_t i = 0; i < config.layers; ++i) {
    convs->push_back(GatConv(width, config.hidden, config.heads));
    width = config.hidden * config.heads;
  }
  head = register_module("head",
                         Perceptron(width * config.layers, 2, config.fc_layers, config.dropout));
}

at::Tensor GraphClassifierImpl::pooled(const BatchTensors& batch) {
  const double p = is_training() ? config_.dropout : 0.0;
  at::Tensor h = input->forward(batch);
  std::vector<at::Tensor> states;
  for (std::size_t i = 0; i < convs->size(); ++i) {
    const auto conv = convs->ptr<GatConvImpl>(i);
    const auto body = [conv, p, i, batch](const at::Tensor& x, bool) {
      return relu_dropout(conv->forward(x, batch), p, kConv + static_cast<uint32_t>(i), batch);
    };
    h = checkpointing && is_training() ? checkpoint(h, conv->parameters(), body) : body(h, true);
    states.push_back(mean_pool(h, batch));
  }
  return at::cat(states, 1);
}

at::Tensor GraphClassifierImpl::classify(const at::Tensor& pooled_GF, const BatchTensors& batch) {
  return head->last()->forward(head->hidden(pooled_GF, batch, kHead, true));
}

GraphClassifier make_model(const GatConfig& config) { return GraphClassifier(config); }

}  // namespace kdgat::model
