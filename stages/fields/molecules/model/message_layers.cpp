// The layers of a pocket encoder: messages over edges and over terms, and the embedding of atoms.
#include <ATen/ATen.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "fields/molecules/data/molecule_graph.h"
#include "fields/molecules/model/couplings.h"
#include "fields/molecules/model/pocket_encoder.h"

namespace kdgat::molecules {

MessagePassingImpl::MessagePassingImpl(const PocketConfig& config, int64_t attributes, bool bonded)
    : irreps_(config.hidden), is_improved_(config.improved_layers) {
  linear_in = register_module("linear_in", IrrepsLinear(irreps_, irreps_));
  radial_mlp = register_module("radial_mlp",
                               silu_layers({config.radial_basis + attributes, config.radial_hidden,
                                            config.radial_hidden, edge_weights(irreps_)}));
  if (bonded) {
    self_connection = register_module("self_connection", IrrepsLinear(irreps_, irreps_.gated()));
  }
  if (config.norm) {
    layer_norm = register_module("layer_norm", IrrepsNorm(irreps_, config.norm_form()));
  }
}

RadialWeights MessagePassingImpl::weights() const {
  const auto layer = [this](std::size_t i) { return radial_mlp->ptr<torch::nn::LinearImpl>(i); };
  return {layer(0)->weight, layer(0)->bias,   layer(2)->weight,
          layer(2)->bias,   layer(4)->weight, layer(4)->bias};
}

at::Tensor MessagePassingImpl::forward(const at::Tensor& x,
                                       const std::shared_ptr<const ProductEdges>& over,
                                       bool only_scalars) {
  // Where products run in 16 bits the sum of messages does not.
  const at::Tensor state = linear_in->forward(x).to(over->harmonics.scalar_type());
  const at::Tensor message = tensor_product(state, weights(), over, irreps_, only_scalars);
  at::Tensor out;
  if (self_connection.is_empty()) {
    out = gate(message, irreps_);
  } else if (is_improved_) {
    out = improved_update(x, self_connection->forward(x), message, irreps_);
  } else {
    out = x + gate(self_connection->forward(x) + message, irreps_);
  }
  return layer_norm.is_empty() ? out : layer_norm->forward(out);
}

Value MessagePassingImpl::count(PocketCount& step, const Value& x, PocketCount::Edges& edges,
                                bool only_scalars) const {
  const Value state = step.widened(linear_in->count(step, x));
  const Value message = count_tensor_product(step, state, weights(), edges, irreps_, only_scalars);
  Value out;
  if (self_connection.is_empty()) {
    out = count_gate(step, message, irreps_);
  } else {
    const Value own = self_connection->count(step, x);
    out = is_improved_ ? count_improved_update(step, x, own, message, irreps_)
                       : step.tape.sum(x, count_gate(step, step.tape.sum(own, message), irreps_));
  }
  return layer_norm.is_empty() ? out : layer_norm->count(step, out);
}

TermMessagesImpl::TermMessagesImpl(const Irreps& irreps, int64_t attributes,
                                   const std::string& name, bool norm)
    : irreps_(irreps) {
  const int64_t inputs = 2 * irreps.mul[0] + attributes;
  if (norm) {
    input_norm =
        register_module("input_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({inputs})));
  }
  mlp = register_module(name, silu_layers({inputs, kTermHidden, kTermHidden, irreps.mul[0]}));
  output_projection = register_module("output_projection", ScalarsToIrreps(irreps));
}

at::Tensor TermMessagesImpl::forward(const at::Tensor& x, const MoleculeTerms& terms) {
  const at::Tensor scalars = x.narrow(1, 0, irreps_.mul[0]);
  at::Tensor input = at::cat(
      {scalars.index_select(0, terms.first), scalars.index_select(0, terms.last), terms.attr}, 1);
  if (!input_norm.is_empty()) input = input_norm->forward(input);
  const at::Tensor message = mlp->forward(input);
  at::Tensor sum;
  for (const at::Tensor& centre : terms.centres) {
    const at::Tensor mean = mean_at(message, centre, x.size(0));
    sum = sum.defined() ? sum + mean : mean;
  }
  return output_projection->forward(sum / static_cast<double>(terms.centres.size()));
}

Value TermMessagesImpl::count(PocketCount& step, const Value& x, const Cost& terms,
                              int centres) const {
  Tape& tape = step.tape;
  const auto scalars = static_cast<double>(irreps_.mul[0]);
  const auto columns = mlp->ptr<torch::nn::LinearImpl>(0)->options.in_features();
  Value input = tape.value(terms, static_cast<double>(columns));
  tape.then(input, [&step, x = x.without_data(), scalars](const Held&) {
    step.rows(PocketCount::kAtoms, 2 * scalars);
    step.tape.give(x);
  });
  if (!input_norm.is_empty()) input = step.layer_norm(input);
  Value message = step.linear(input, kTermHidden);
  message = step.linear(step.silu(message), kTermHidden);
  message = step.linear(step.silu(message), scalars);
  Value total;
  for (int centre = 0; centre < centres; ++centre) {
    const Value mean = tape.value(PocketCount::kAtoms, scalars, message.element);
    const Held counts = step.rows(PocketCount::kAtoms, 1);
    tape.then(mean, [&tape, message, counts](const Held&) { tape.give(message); });
    total = centre == 0 ? mean : step.tape.sum(total, mean);
  }
  return output_projection->count(step, tape.elementwise(total, Keeps::kNothing));
}

FeatureEmbeddingImpl::FeatureEmbeddingImpl(const PocketConfig& config) {
  const int64_t width = config.feature_hidden;
  using torch::nn::LayerNorm;
  using torch::nn::Linear;
  using torch::nn::SiLU;
  feature_mlp = register_module(
      "feature_mlp",
      torch::nn::Sequential(Linear(kAtomFeatures, width), SiLU(),
                            LayerNorm(torch::nn::LayerNormOptions({width})), Linear(width, width),
                            SiLU(), LayerNorm(torch::nn::LayerNormOptions({width})),
                            Linear(width, config.hidden.mul[0])));
  irreps_projection = register_module("irreps_projection", ScalarsToIrreps(config.hidden));
  if (config.atom_kinds > 0) {
    kind_weight = register_parameter("kind_weight",
                                     torch::randn({config.atom_kinds + 1, config.hidden.mul[0]}));
    const at::NoGradGuard no_grad;
    kind_weight[0].zero_();  // what was never seen adds nothing
  }
}

at::Tensor FeatureEmbeddingImpl::forward(const at::Tensor& x, const at::Tensor& kind) {
  at::Tensor scalars = feature_mlp->forward(x);
  if (kind_weight.defined()) scalars = scalars + at::embedding(kind_weight, kind);
  return irreps_projection->forward(scalars);
}

Value FeatureEmbeddingImpl::count(PocketCount& step) const {
  Tape& tape = step.tape;
  const auto* first = feature_mlp->ptr<torch::nn::LinearImpl>(0).get();
  const auto width = static_cast<double>(first->options.out_features());
  const auto scalars =
      static_cast<double>(feature_mlp->ptr<torch::nn::LinearImpl>(6)->options.out_features());
  Value x{PocketCount::kAtoms, kAtomFeatures, PocketCount::kFloat, nullptr, nullptr};
  for (int layer = 0; layer < 2; ++layer) x = step.layer_norm(step.silu(step.linear(x, width)));
  x = step.linear(x, scalars);
  if (kind_weight.defined()) {
    const Value kinds = tape.value(PocketCount::kAtoms, scalars);
    tape.then(kinds, [&tape, table = static_cast<double>(kind_weight.numel())](const Held&) {
      tape.parameters({table});
    });
    x = step.tape.sum(x, kinds);
  }
  return irreps_projection->count(step, x);
}

}  // namespace kdgat::molecules
