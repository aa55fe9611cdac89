#include "fields/molecules/model/pocket_encoder.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <string>

#include "engine/kernels/kernels_for.h"
#include "engine/kernels/norm.h"
#include "engine/model/layers/recompute.h"
#include "fields/molecules/data/molecule_graph.h"
#include "fields/molecules/model/couplings.h"

namespace kdgat::molecules {
namespace {

constexpr double kTermWeight = 0.333;  // of angles, dihedrals and pairs at the start

/// Rows with each element kept with probability 1 - p, and scaled; by counters, so that a step in
/// parts is the same step.
at::Tensor drop(const at::Tensor& rows, double p, uint32_t layer,
                const kernels::BatchTensors& keys) {
  const at::Tensor uniform =
      kernels::kernels_for<kernels::NormKernels>(rows.device()).uniform(keys, rows.size(1), layer);
  return rows * uniform.ge(p).to(rows.scalar_type()).div_(1 - p);
}

}  // namespace

void MoleculeTerms::add_shapes(const at::Tensor& pos) {
  std::vector<at::Tensor> atoms = {first};
  atoms.insert(atoms.end(), centres.begin(), centres.end());
  atoms.push_back(last);
  attr = at::cat({attr, term_shapes(atoms, pos.to(attr.device())).to(attr.scalar_type())}, 1);
}

std::shared_ptr<const ProductEdges> product_edges(const at::Tensor& index, const at::Tensor& attr,
                                                  const at::Tensor& pos,
                                                  const PocketConfig& config) {
  const at::Tensor ends = index.to(at::kInt).contiguous();
  const auto edges = static_cast<std::size_t>(ends.size(1));
  const int32_t* all = ends.const_data_ptr<int32_t>();
  auto out = std::make_shared<ProductEdges>();
  out->edges = MoleculeEdges::of(pos.size(0), {all, edges}, {all + edges, edges});
  const MoleculeEdges& sorted = out->edges;
  const at::Tensor places = pos.to(at::kDouble).contiguous();
  const double* place = places.const_data_ptr<double>();
  at::Tensor harmonic = at::empty({sorted.edges(), kHarmonics}, at::kDouble);
  at::Tensor distance = at::empty({sorted.edges()}, at::kDouble);
  constexpr double kLeast = 1e-6;  // A: atoms at one place have no direction
  for (int64_t e = 0; e < sorted.edges(); ++e) {
    std::array<double, 3> r{};
    double square = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      r[d] =
          place[3 * int64_t{sorted.target[static_cast<std::size_t>(e)]} + static_cast<int64_t>(d)] -
          place[3 * int64_t{sorted.source[static_cast<std::size_t>(e)]} + static_cast<int64_t>(d)];
      square += r[d] * r[d];
    }
    const double length = std::max(std::sqrt(square), kLeast);
    for (double& x : r) x /= length;
    const auto y = harmonics(r);
    std::copy(y.begin(), y.end(), harmonic.data_ptr<double>() + e * kHarmonics);
    distance.data_ptr<double>()[e] = length;
  }
  const at::Tensor order =
      at::from_blob(const_cast<int32_t*>(sorted.origin.data()), {sorted.edges()}, at::kInt)
          .to(at::kLong);
  const auto type = attr.scalar_type();
  out->harmonics = harmonic.to(type);
  out->radial = at::cat({radial_basis(distance, config.radial_basis, config.r_max).to(type),
                         attr.index_select(0, order)},
                        1);
  return out;
}

PocketEncoderImpl::PocketEncoderImpl(const PocketConfig& config) : config_(config) {
  input_embedding = register_module("input_embedding", FeatureEmbedding(config));
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    bonded_mp_layers->push_back(MessagePassing(config, kBondFeatures, true));
    if (config.nonbonded) {
      nonbonded_mp_layers->push_back(MessagePassing(config, kPairFeatures, false));
    }
    if (!config.multi_hop) continue;
    const auto terms = [&](int64_t atoms, int64_t features, const char* name) {
      return TermMessages(config.hidden, config.term_features(atoms, features), name,
                          config.improved_layers);
    };
    angle_mp_layers->push_back(terms(3, kAngleFeatures, "angle_mlp"));
    dihedral_mp_layers->push_back(terms(4, kDihedralFeatures, "dihedral_mlp"));
  }
  register_module("bonded_mp_layers", bonded_mp_layers);
  if (config.nonbonded) register_module("nonbonded_mp_layers", nonbonded_mp_layers);
  if (config.multi_hop) register_module("angle_mp_layers", angle_mp_layers);
  if (config.multi_hop) register_module("dihedral_mp_layers", dihedral_mp_layers);
  const auto weight = [this](const char* name) {
    return register_parameter(name, torch::tensor(kTermWeight, torch::kFloat));
  };
  if (config.multi_hop && !config.v3) angle_weight = weight("angle_weight");
  if (config.multi_hop && !config.v3) dihedral_weight = weight("dihedral_weight");
  if (config.nonbonded && !config.v3) nonbonded_weight = weight("nonbonded_weight");
  for (int64_t layer = 0; config.v3 && layer < config.layers; ++layer) {
    pre_norms->push_back(IrrepsNorm(config.hidden, config.norm_form()));
    post_norms->push_back(IrrepsNorm(config.hidden, config.norm_form()));
  }
  if (config.v3) register_module("pre_norms", pre_norms);
  if (config.v3) register_module("post_norms", post_norms);
  const int64_t width = config.pooling_hidden, channels = config.invariants();
  using torch::nn::Dropout;
  using torch::nn::Linear;
  using torch::nn::SiLU;
  if (config.v3 && config.pooling == kPoolings[0]) {
    query_pooling = register_module("query_pooling", QueryPooling(channels, width, config.heads));
  } else {
    pooling_mlp = register_module(
        "pooling_mlp", torch::nn::Sequential(Linear(channels, width), SiLU(),
                                             Dropout(config.dropout), Linear(width, width), SiLU(),
                                             Dropout(config.dropout), Linear(width, 1)));
  }
  output_projection = register_module(
      "output_projection",
      torch::nn::Sequential(Linear(channels, config.output),
                            torch::nn::LayerNorm(torch::nn::LayerNormOptions({config.output}))));
  if (config.plain > 0) {
    plain_mlp = register_module("plain_mlp",
                                torch::nn::Sequential(Linear(config.plain, kPlainHidden), SiLU(),
                                                      Linear(kPlainHidden, config.output)));
  }
}

/// The messages of a block, of normalised states, as what the states grow by.
at::Tensor PocketEncoderImpl::v3_update(const at::Tensor& h, std::size_t layer,
                                        const MoleculeBatch& batch) {
  constexpr double kBondedWeight = 0.4;
  const bool only_scalars = layer == 0;
  const at::Tensor g = pre_norms->ptr<IrrepsNormImpl>(layer)->forward(h.to(batch.x.scalar_type()));
  at::Tensor out = kBondedWeight * bonded_mp_layers->ptr<MessagePassingImpl>(layer)->forward(
                                       g, batch.bonds, only_scalars);
  if (config_.multi_hop) {
    out = out +
          config_.angle_weight *
              angle_mp_layers->ptr<TermMessagesImpl>(layer)->forward(g, batch.angles) +
          config_.dihedral_weight *
              dihedral_mp_layers->ptr<TermMessagesImpl>(layer)->forward(g, batch.dihedrals);
  }
  if (config_.nonbonded) {
    out = out +
          config_.nonbonded_weight * nonbonded_mp_layers->ptr<MessagePassingImpl>(layer)->forward(
                                         g, batch.pairs, only_scalars);
  }
  return post_norms->ptr<IrrepsNormImpl>(layer)->forward(out);
}

at::Tensor PocketEncoderImpl::block(const at::Tensor& h, std::size_t layer,
                                    const MoleculeBatch& batch) {
  at::Tensor out = config_.v3 ? h + v3_update(h, layer, batch) : v2_block(h, layer, batch);
  if (config_.dropout > 0 && is_training()) {
    const int64_t scalars = config_.hidden.mul[0];
    const at::Tensor dropped =
        drop(out.narrow(1, 0, scalars), config_.dropout, static_cast<uint32_t>(layer), batch.keys);
    out = at::cat({dropped, out.narrow(1, scalars, out.size(1) - scalars)}, 1);
  }
  return out;
}

at::Tensor PocketEncoderImpl::v2_block(const at::Tensor& h, std::size_t layer,
                                       const MoleculeBatch& batch) {
  const bool only_scalars = layer == 0;
  at::Tensor out =
      bonded_mp_layers->ptr<MessagePassingImpl>(layer)->forward(h, batch.bonds, only_scalars);
  if (config_.multi_hop) {
    const auto over = [&](const torch::nn::ModuleList& layers, const MoleculeTerms& terms) {
      return layers->ptr<TermMessagesImpl>(layer)->forward(h, terms);
    };
    out = out + angle_weight * over(angle_mp_layers, batch.angles) +
          dihedral_weight * over(dihedral_mp_layers, batch.dihedrals);
  }
  if (config_.nonbonded) {
    out = out + nonbonded_weight * nonbonded_mp_layers->ptr<MessagePassingImpl>(layer)->forward(
                                       h, batch.pairs, only_scalars);
  }
  return out;
}

/// v3_update() before its norms, or v2_block().
Value PocketEncoderImpl::count_messages(PocketCount& step, const Value& h,
                                        std::size_t layer) const {
  const bool only_scalars = layer == 0;
  const auto over = [&](const torch::nn::ModuleList& layers, PocketCount::Edges& edges) {
    return layers->ptr<MessagePassingImpl>(layer)->count(step, h, edges, only_scalars);
  };
  // By fixed numbers, or by learned ones.
  const auto weighed = [&](const Value& x) {
    return config_.v3 ? step.tape.elementwise(x, Keeps::kNothing) : step.scaled(x);
  };
  Value out = over(bonded_mp_layers, step.bonded);
  if (config_.v3) out = weighed(out);
  if (config_.multi_hop) {
    const auto add = [&](const torch::nn::ModuleList& layers, const Cost& terms, int centres) {
      const auto messages = layers->ptr<TermMessagesImpl>(layer);
      out = step.tape.sum(out, weighed(messages->count(step, h, terms, centres)));
    };
    add(angle_mp_layers, step.angles, 1);
    add(dihedral_mp_layers, step.dihedrals, 2);
  }
  if (config_.nonbonded)
    out = step.tape.sum(out, weighed(over(nonbonded_mp_layers, step.nonbonded)));
  return out;
}

Value PocketEncoderImpl::count_block(PocketCount& step, const Value& h, std::size_t layer) const {
  Value out;
  if (config_.v3) {
    const auto norm = [&](const torch::nn::ModuleList& norms, const Value& x) {
      return norms->ptr<IrrepsNormImpl>(layer)->count(step, x);
    };
    const Value messages = count_messages(step, norm(pre_norms, step.widened(h)), layer);
    out = step.tape.sum(h, norm(post_norms, messages));
  } else {
    out = count_messages(step, h, layer);
  }
  if (config_.dropout > 0) {
    const auto scalars = static_cast<double>(config_.hidden.mul[0]);
    const Value dropped = step.drop(step.view(out, scalars).without_data());
    const Value rest = step.view(out, out.width - scalars).without_data();
    out = step.tape.joined({dropped, rest}, out.rows, out.width, out.element);
  }
  return out;
}

std::vector<at::Tensor> PocketEncoderImpl::block_parameters(std::size_t layer) const {
  std::vector<at::Tensor> out;
  for (const at::Tensor& weight : {angle_weight, dihedral_weight, nonbonded_weight}) {
    if (weight.defined()) out.push_back(weight);
  }
  for (const torch::nn::ModuleList& list : {bonded_mp_layers, nonbonded_mp_layers, angle_mp_layers,
                                            dihedral_mp_layers, pre_norms, post_norms}) {
    if (layer >= list->size()) continue;
    const std::vector<at::Tensor> own = (*list)[layer]->parameters();
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

at::Tensor PocketEncoderImpl::states(const MoleculeBatch& batch) {
  at::Tensor h = input_embedding->forward(batch.x, batch.kind);
  for (std::size_t layer = 0; layer < bonded_mp_layers->size(); ++layer) {
    h = config_.checkpoints ? model::checkpoint(h, block_parameters(layer),
                                                [this, layer, batch](const at::Tensor& x, bool) {
                                                  return block(x, layer, batch);
                                                })
                            : block(h, layer, batch);
  }
  return h;
}

/// One number an atom, by which it is weighed. Dropout stands behind each SiLU.
at::Tensor PocketEncoderImpl::logits(const at::Tensor& of_atoms, const MoleculeBatch& batch) {
  at::Tensor out = of_atoms;
  auto layer = static_cast<uint32_t>(config_.layers);
  for (const auto& module : *pooling_mlp) {
    if (const auto linear = std::dynamic_pointer_cast<torch::nn::LinearImpl>(module.ptr())) {
      out = linear->forward(out);
    } else if (std::dynamic_pointer_cast<torch::nn::SiLUImpl>(module.ptr())) {
      out = at::silu(out);
    } else if (config_.dropout > 0 && is_training()) {
      out = drop(out, config_.dropout, layer++, batch.keys);
    }
  }
  return out.select(1, 0);
}

at::Tensor PocketEncoderImpl::pool(const at::Tensor& of_atoms, const MoleculeBatch& batch) {
  const auto shape = std::vector<int64_t>{batch.molecules, of_atoms.size(1)};
  const auto sum = [&](const at::Tensor& rows) {
    return at::zeros(shape, rows.options()).index_add(0, batch.molecule, rows);
  };
  if (config_.pooling == "sum") return sum(of_atoms);
  if (config_.pooling == "mean") return mean_at(of_atoms, batch.molecule, batch.molecules);
  if (config_.pooling == "max") {
    const at::Tensor index = batch.molecule.unsqueeze(1).expand_as(of_atoms);
    return at::zeros(shape, of_atoms.options())
        .scatter_reduce(0, index, of_atoms, "amax", /*include_self=*/false);
  }
  if (!query_pooling.is_empty()) {
    return query_pooling->forward(of_atoms, batch.molecule, batch.molecules);
  }
  const at::Tensor logit = logits(of_atoms, batch);
  const at::Tensor top =
      at::full({batch.molecules}, -std::numeric_limits<double>::infinity(), logit.options())
          .scatter_reduce(0, batch.molecule, logit.detach(), "amax");
  const at::Tensor raw = (logit - top.index_select(0, batch.molecule)).exp();
  const at::Tensor total =
      at::zeros({batch.molecules}, raw.options()).index_add(0, batch.molecule, raw);
  const at::Tensor weight = raw / total.index_select(0, batch.molecule);
  return sum(of_atoms * weight.unsqueeze(1));
}

/// What a molecule's plain numbers add to its vector before the norm, [G,W].
at::Tensor PocketEncoderImpl::of_plain(const MoleculeBatch& batch) {
  at::Tensor hidden = plain_mlp->ptr<torch::nn::LinearImpl>(0)->forward(batch.plain);
  hidden = at::silu(hidden);
  if (config_.dropout > 0 && is_training()) {
    kernels::BatchTensors molecules = batch.keys;  // one row each instead of one an atom
    molecules.nodes = batch.molecules;
    molecules.x_NF = batch.plain;
    molecules.node_ptr_G1 = at::arange(batch.molecules + 1, batch.keys.node_ptr_G1.options());
    constexpr uint32_t kPoolingLayers = 2;
    hidden = drop(hidden, config_.dropout, static_cast<uint32_t>(config_.layers) + kPoolingLayers,
                  molecules);
  }
  return plain_mlp->ptr<torch::nn::LinearImpl>(2)->forward(hidden);
}

at::Tensor PocketEncoderImpl::forward(const MoleculeBatch& batch) {
  const at::Tensor h = states(batch);
  at::Tensor of_atoms = invariants(h, config_.hidden);
  if (config_.enhanced_invariants) {
    of_atoms = at::cat({of_atoms, channel_cosines(h, config_.hidden)}, 1);
  }
  const at::Tensor pooled = pool(of_atoms, batch);
  if (config_.plain == 0) return output_projection->forward(pooled);
  const at::Tensor rows = output_projection->ptr<torch::nn::LinearImpl>(0)->forward(pooled);
  return output_projection->ptr<torch::nn::LayerNormImpl>(1)->forward(rows + of_plain(batch));
}

/// From the states of atoms to a row a molecule.
Value PocketEncoderImpl::count_pool(PocketCount& step, const Value& h) const {
  Tape& tape = step.tape;
  const auto scalars = static_cast<double>(config_.hidden.mul[0]);
  const auto width = static_cast<double>(config_.invariants());
  const Value lengths =
      tape.value(h.rows, static_cast<double>(config_.hidden.channels()) - scalars);
  tape.then(lengths, [&tape, h, kept = lengths.data](const Held&) {
    const Held of_parts = tape.hold(h.bytes());
    tape.give(h);
  });
  std::vector<Value> parts = {step.view(h, scalars).without_data(), lengths.without_data()};
  if (config_.enhanced_invariants) {
    parts.push_back(count_channel_cosines(step, h, config_.hidden).without_data());
  }
  const Value of_atoms = tape.joined(parts, h.rows, width, PocketCount::kFloat);
  if (!query_pooling.is_empty()) return query_pooling->count(step, of_atoms);
  Value weighed = of_atoms;
  if (config_.pooling == kPoolings[0]) {
    Value hidden = of_atoms;
    for (int layer = 0; layer < 2; ++layer) {
      hidden = step.silu(step.linear(hidden, static_cast<double>(config_.pooling_hidden)));
      if (config_.dropout > 0) hidden = step.drop(hidden);
    }
    const Value weight = tape.elementwise(step.linear(hidden, 1), Keeps::kResult);
    weighed = tape.value(of_atoms.rows, width);
    tape.then(weighed, [&tape, of_atoms, weight](const Held&) {
      const Held of_weights = tape.hold(of_atoms.bytes());
      tape.give(of_atoms);
      tape.give(weight);
    });
  }
  Value out = tape.value(PocketCount::kMolecules, width);
  tape.then(out, [&tape, weighed = weighed.without_data()](const Held&) { tape.give(weighed); });
  return out;
}

Value PocketEncoderImpl::count(PocketCount& step) const {
  Tape& tape = step.tape;
  tape.enter("the embedding");
  Value h = input_embedding->count(step);
  for (std::size_t layer = 0; layer < bonded_mp_layers->size(); ++layer) {
    tape.enter("block " + std::to_string(layer));
    const auto body = [this, &step, layer](const Value& x) { return count_block(step, x, layer); };
    h = config_.checkpoints ? tape.checkpoint(h, body) : body(h);
  }
  // Plain numbers, and what their network keeps of its hidden rows.
  const Held plain =
      step.rows(PocketCount::kMolecules,
                config_.plain > 0 ? static_cast<double>(config_.plain + 3 * kPlainHidden) : 0);
  tape.enter("the pooling");
  const Value rows = count_pool(step, h);
  h = {};
  Value out = step.layer_norm(step.linear(rows, static_cast<double>(config_.output)));
  step.lists.push_back(plain);
  return out;
}

}  // namespace kdgat::molecules
