#include "engine/model/networks/vgae.h"

#include "engine/kernels/full_precision.h"
#include "engine/model/layers/generator_lock.h"
#include "engine/model/layers/linear.h"
#include "engine/model/layers/noise.h"

namespace kdgat::model {

namespace {

// Names of the places that draw noise.
constexpr uint32_t kEncoder = 1, kLatent = 1000, kDecoder = 1001, kNeighbours = 1002;
constexpr int64_t kDecoderHeads = 4;

/// mean + noise * exp(logvar / 2)
Value count_sample(StepCount& step, const Value& mean, const Value& logvar) {
  Tape& tape = step.tape;
  const Held noise = count_normal_noise(step, mean.width);
  const Value half = tape.elementwise(logvar, Keeps::kNothing);
  const Value deviation = tape.elementwise(half, Keeps::kResult);
  const Value product = tape.value(kNodes, mean.width);
  tape.then(product, [&tape, deviation = deviation.without_data(), noise](const Held&) {
    tape.give(deviation);
  });
  return step.tape.joined({mean, product}, kNodes, mean.width);
}

}  // namespace

GraphAutoencoderImpl::GraphAutoencoderImpl(const VgaeConfig& config) : config_(config) {
  input = register_module("input", Input(config.num_ids, config.node_features, config.embedding_dim,
                                         config, /*edge_features=*/0, config.has_ids));
  register_module("encoder", encoder);
  std::vector<int64_t> widths = config.hidden_dims;
  if (widths.size() > 1 && widths.back() == config.latent_dim) widths.pop_back();
  int64_t width = input->width();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const Block block(width, widths[i], i == 0 ? config.heads : 1, config.dropout, config.norm);
    encoder->push_back(block);
    width = block->width();
  }
  mean = register_module("mean", torch::nn::Linear(width, config.latent_dim));
  logvar = register_module("logvar", torch::nn::Linear(width, config.latent_dim));
  decoder = register_module("decoder", Block(config.latent_dim, widths.back(), kDecoderHeads,
                                             config.dropout, config.norm));
  output = register_module("output", GatConv(decoder->width(), config.features(), 1));
  if (config.has_ids) {
    ids = register_module("ids", torch::nn::Linear(config.latent_dim, config.num_ids));
  }
  neighbours =
      register_module("neighbours", Perceptron(config.latent_dim,
                                               config.has_ids ? config.num_ids : config.features(),
                                               3, config.dropout));
}

VgaeOutput GraphAutoencoderImpl::forward(const kernels::BatchTensors& batch) {
  VgaeOutput out;
  at::Tensor h = input->forward(batch);
  out.wanted_NX = config_.has_ids ? batch.x_NF.slice(1, 1) : h;
  for (std::size_t i = 0; i < encoder->size(); ++i) {
    h = encoder->ptr<BlockImpl>(i)->forward(h, batch, kEncoder + static_cast<uint32_t>(i),
                                            checkpointing);
  }
  out.mean_NL = kernels::full(linear(h, mean));
  out.logvar_NL = kernels::full(linear(h, logvar)).clamp(-10, 10);  // exp() stays far from overflow
  out.z_NL = out.mean_NL;
  if (is_training() && sample_latent) {
    out.z_NL = out.mean_NL +
               normal_noise(batch, config_.latent_dim, kLatent) * (0.5 * out.logvar_NL).exp();
  }
  const at::Tensor decoded = decoder->forward(out.z_NL, batch, kDecoder, checkpointing);
  out.features_NX = output->forward(decoded, batch);
  if (config_.has_ids)
    out.features_NX = out.features_NX.sigmoid();  // those of windows are in [0, 1]
  return out;
}

VgaeCount GraphAutoencoderImpl::count(StepCount& step) const {
  Tape& tape = step.tape;
  VgaeCount out;
  Value h = input->count(step);
  if (!config_.has_ids) out.wanted = h.data;
  for (std::size_t i = 0; i < encoder->size(); ++i) {
    tape.enter("encoder " + std::to_string(i));
    h = encoder->ptr<BlockImpl>(i)->count(step, h);
  }
  tape.enter("the latent layer");
  out.mean = count_linear(step, h, mean).value;
  out.logvar = tape.elementwise(count_linear(step, h, logvar).value, Keeps::kInput);
  out.z = count_sample(step, out.mean, out.logvar);
  tape.enter("the decoder");
  out.features = output->count(step, decoder->count(step, out.z));
  if (config_.has_ids) out.features = tape.elementwise(out.features, Keeps::kResult);
  return out;
}

at::Tensor GraphAutoencoderImpl::neighbour_features(const at::Tensor& z_NL,
                                                    const kernels::BatchTensors& batch) {
  return kernels::full(neighbours->last()->forward(neighbour_hidden(z_NL, batch)));
}

at::Tensor GraphAutoencoderImpl::neighbour_hidden(const at::Tensor& z_NL,
                                                  const kernels::BatchTensors& batch) {
  return neighbours->hidden(z_NL, batch, kNeighbours, false);
}

GraphAutoencoder make_model(const VgaeConfig& config) {
  const GeneratorLock generator = hold_generator();
  return GraphAutoencoder(config);
}

}  // namespace kdgat::model
