#include "fields/molecules/model/pocket_footprint.h"

#include "fields/molecules/data/molecule_graph.h"
#include "fields/molecules/model/pocket_step.h"

namespace kdgat::molecules {
namespace {

int64_t elements(const std::vector<at::Tensor>& tensors) {
  int64_t out = 0;
  for (const at::Tensor& tensor : tensors) out += tensor.numel();
  return out;
}

double term_features(const PocketConfig& config, int64_t atoms) {
  return static_cast<double>(
      config.term_features(atoms, atoms == 3 ? kAngleFeatures : kDihedralFeatures));
}

/// Harmonics and radial inputs of edges stay; what they are made of goes before the step begins.
Held edges_of(PocketStep& step, const PocketStep::Edges& edges, const PocketConfig& config) {
  const auto basis = static_cast<double>(config.radial_basis),
             features = static_cast<double>(edges.features);
  constexpr double kWide = PocketStep::kDouble;
  const Held attributes =
      step.tape.hold(edges.rows * (PocketStep::kFloat * features + 4 * PocketStep::kInt));
  const Held harmonics = step.tape.hold(edges.rows * (kWide * (kHarmonics + 1)));
  step.tape.hold(edges.rows * (kWide * (3 * basis + 4)));
  return step.tape.hold(edges.rows * (PocketStep::kFloat * (kHarmonics + basis + features)));
}

constexpr std::size_t kPairs = 2, kTerms = 3;  // of input()

/// The batch; holds what it is made of.
std::vector<Held> input(PocketStep& step, const PocketConfig& config) {
  Tape& tape = step.tape;
  tape.enter("the input");
  constexpr double kFloat = PocketStep::kFloat, kLong = PocketStep::kLong;
  std::vector<Held> out = {tape.hold(PocketStep::kAtoms * (kFloat * (kAtomFeatures + 3) + kLong) +
                                     PocketStep::kMolecules * (3 * kLong)),
                           edges_of(step, step.bonded, config),
                           edges_of(step, step.nonbonded, config)};
  out.push_back(tape.hold(step.angles * (3 * kLong + kFloat * term_features(config, 3)) +
                          step.dihedrals * (4 * kLong + kFloat * term_features(config, 4))));
  if (config.atom_kinds > 0) out.push_back(tape.hold(PocketStep::kAtoms * kLong));
  return out;
}

Value embedding(PocketStep& step, const PocketConfig& config) {
  Tape& tape = step.tape;
  tape.enter("the embedding");
  const auto width = static_cast<double>(config.feature_hidden),
             scalars = static_cast<double>(config.hidden.mul[0]);
  Value features{PocketStep::kAtoms, kAtomFeatures, PocketStep::kFloat, nullptr, nullptr};
  Value x = step.layer_norm(step.silu(step.linear(features, width)));
  x = step.linear(step.layer_norm(step.silu(step.linear(x, width))), scalars);
  if (config.atom_kinds > 0) {
    const Value kinds = tape.value(PocketStep::kAtoms, scalars);
    const double rows = static_cast<double>(config.atom_kinds + 1);
    tape.then(kinds, [&tape, rows, scalars](const Held&) { tape.parameters({rows * scalars}); });
    x = step.sum(x, kinds);
  }
  return step.scalars_to_irreps(x);
}

/// Messages over bonds, terms and pairs; of v3 weighed by fixed numbers, else by learned ones.
Value messages(PocketStep& step, const PocketConfig& config, const Value& h, bool only_scalars) {
  const auto weighed = [&](const Value& x) { return config.v3 ? step.weighed(x) : step.scaled(x); };
  Value out = step.message_passing(h, step.bonded, true, only_scalars);
  if (config.v3) out = step.weighed(out);
  if (config.multi_hop) {
    const Value by_angles = step.term_messages(h, step.angles, term_features(config, 3), 1);
    out = step.sum(out, weighed(by_angles));
    const Value by_dihedrals = step.term_messages(h, step.dihedrals, term_features(config, 4), 2);
    out = step.sum(out, weighed(by_dihedrals));
  }
  if (config.nonbonded) {
    const Value by_pairs = step.message_passing(h, step.nonbonded, false, only_scalars);
    out = step.sum(out, weighed(by_pairs));
  }
  return out;
}

Value block(PocketStep& step, const PocketConfig& config, const Value& h, bool only_scalars) {
  Value out;
  if (config.v3) {
    const Value update =
        step.norm(messages(step, config, step.norm(step.widened(h)), only_scalars));
    out = step.sum(h, update);
  } else {
    out = messages(step, config, h, only_scalars);
  }
  if (config.dropout > 0) {
    const auto scalars = static_cast<double>(config.hidden.mul[0]);
    const Value dropped = step.drop(step.view(out, scalars).without_data());
    const Value rest = step.view(out, out.width - scalars).without_data();
    out = step.joined({dropped, rest}, out.width, out.element);
  }
  return out;
}

/// Cosines between vectors and between tensors: unit rows and their products.
Value cosines(PocketStep& step, const PocketConfig& config, const Value& h) {
  Tape& tape = step.tape;
  const auto of = [&](std::size_t l) { return static_cast<double>(config.hidden.mul[l]); };
  const double turning = 3 * of(1) + 5 * of(2), squares = of(1) * of(1) + of(2) * of(2);
  const Value unit = tape.value(h.rows, turning);
  const Held lengths = tape.hold(h.rows * (2 * PocketStep::kFloat * (of(1) + of(2))));
  tape.then(unit, [&tape, h, lengths](const Held&) {
    const Held of_parts = tape.hold(h.bytes());
    tape.give(h);
  });
  const Value every = tape.value(h.rows, squares);
  tape.then(every, [&tape, unit](const Held&) {
    tape.hold(unit.bytes());
    tape.give(unit);
  });
  Value out = tape.value(h.rows, static_cast<double>(channel_pairs(config.hidden)));
  tape.then(out, [&tape, every = every.without_data()](const Held&) { tape.give(every); });
  return out;
}

/// QueryPooling.
Value by_queries(PocketStep& step, const PocketConfig& config, const Value& of_atoms) {
  Tape& tape = step.tape;
  const auto width = static_cast<double>(config.pooling_hidden),
             heads = static_cast<double>(config.heads);
  const Value keys = step.widened(step.linear(of_atoms, width));
  const Value weight = tape.value(of_atoms.rows, heads);
  const Held raw = tape.hold(of_atoms.rows * (3 * PocketStep::kFloat * heads));
  tape.then(weight, [&tape, keys, raw, width](const Held&) {
    tape.hold(keys.bytes());
    tape.give(keys);
    tape.parameters({width});
  });
  const Value values = step.widened(step.linear(of_atoms, width));
  const Value weighed = tape.value(of_atoms.rows, width);
  tape.then(weighed, [&tape, values, weight](const Held&) {
    tape.hold(values.bytes());
    tape.give(values);
    tape.give(weight);
  });
  // What a sum reads is kept, for its shape.
  const Value sums = tape.value(PocketStep::kMolecules, width);
  tape.then(sums, [&tape, weighed](const Held&) { tape.give(weighed); });
  return step.linear(sums, of_atoms.width);
}

/// Of the states of atoms to a row a molecule.
Value pooled(PocketStep& step, const PocketConfig& config, const Value& h) {
  Tape& tape = step.tape;
  tape.enter("the pooling");
  const auto channels = static_cast<double>(config.hidden.channels()),
             scalars = static_cast<double>(config.hidden.mul[0]);
  const Value lengths = tape.value(h.rows, channels - scalars);
  tape.then(lengths, [&tape, h, kept = lengths.data](const Held&) {
    const Held of_parts = tape.hold(h.bytes());
    tape.give(h);
  });
  std::vector<Value> parts = {step.view(h, scalars).without_data(), lengths.without_data()};
  if (config.enhanced_invariants) parts.push_back(cosines(step, config, h).without_data());
  const auto width = static_cast<double>(config.invariants());
  const Value of_atoms = step.joined(parts, width, PocketStep::kFloat);
  if (config.v3 && config.pooling == kPoolings[0]) return by_queries(step, config, of_atoms);
  Value weighed = of_atoms;
  if (config.pooling == kPoolings[0]) {
    const auto inner = static_cast<double>(config.pooling_hidden);
    Value hidden = of_atoms;
    for (int layer = 0; layer < 2; ++layer) {
      hidden = step.silu(step.linear(hidden, inner));
      if (config.dropout > 0) hidden = step.drop(hidden);
    }
    const Value weight = step.elementwise(step.linear(hidden, 1), Keeps::kResult);
    weighed = tape.value(of_atoms.rows, width);
    tape.then(weighed, [&tape, of_atoms, weight](const Held&) {
      const Held of_weights = tape.hold(of_atoms.bytes());
      tape.give(of_atoms);
      tape.give(weight);
    });
  }
  Value out = tape.value(PocketStep::kMolecules, width);
  tape.then(out, [&tape, weighed = weighed.without_data()](const Held&) { tape.give(weighed); });
  return out;
}

/// The loss, and the whole way back.
void backward(PocketStep& step, const PocketConfig& config, const Value& rows, double catalogue) {
  Tape& tape = step.tape;
  const auto width = static_cast<double>(config.output);
  const Value vectors = step.layer_norm(step.linear(rows, width));
  tape.enter("the loss");
  // Vectors of ligands as they are and as unit rows, and rounded where products are.
  const Held ligands =
      tape.hold(PocketStep::kOnce *
                (catalogue * width * (2 * PocketStep::kFloat + (step.is_short() ? 2 : 0))));
  const Held others =
      tape.hold(PocketStep::kMolecules * (PocketStep::kFloat * (3 * width + 3 * catalogue)));
  const Value loss = tape.value(PocketStep::kMolecules, 1);
  tape.then(loss, [&tape, vectors, ligands, others](const Held&) {
    const Held unit = tape.hold(vectors.bytes() * 2);
    tape.give(vectors);
  });
  tape.give(loss);
  tape.backward();
}

/// What a step of this size holds on top of weights, gradients and moments.
std::vector<memory::Phase> phases_of(const PocketConfig& config, const memory::StepForm& form,
                                     const PocketSizes& sizes, const memory::Size& size,
                                     double gradients, Cost* of_input = nullptr,
                                     memory::Rounding* rounding = nullptr) {
  PocketStep step(config, form, sizes, size);
  if (rounding != nullptr) step.tape.follow_blocks();
  Cost batch_bytes;
  {
    std::vector<Held> batch = input(step, config);
    for (const Held& held : batch) batch_bytes += *held;
    Value h = embedding(step, config);
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      step.tape.enter("block " + std::to_string(layer));
      const auto body = [&step, &config, layer](const Value& x) {
        return block(step, config, x, layer == 0);
      };
      h = config.checkpoints ? step.tape.checkpoint(h, body) : body(h);
    }
    // Plain numbers, and what their network keeps of its hidden rows.
    const auto of_plain =
        static_cast<double>(config.plain > 0 ? config.plain + 3 * kPlainHidden : 0);
    const Held plain = step.tape.hold(PocketStep::kMolecules * (PocketStep::kFloat * of_plain));
    const Value rows = pooled(step, config, h);
    h = {};
    // What no layer reads does not outlive the way forth.
    if (!config.nonbonded) batch[kPairs] = nullptr;
    if (!config.multi_hop) batch[kTerms] = nullptr;
    backward(step, config, rows, static_cast<double>(sizes.catalogue));
  }
  if (rounding != nullptr) *rounding = step.tape.rounding();
  std::vector<memory::Phase> out = step.tape.phases();
  if (!form.accumulates()) {  // gradients are counted as held, but come only with backward
    for (memory::Phase& phase : out) phase.cost.fixed -= gradients;
  }
  out.push_back({"optimizer", batch_bytes});
  if (of_input != nullptr) *of_input = batch_bytes;
  return out;
}

}  // namespace

memory::Footprint footprint(const PocketConfig& config, const memory::StepForm& form,
                            const PocketSizes& sizes, const torch::nn::Module& model) {
  memory::Footprint out;
  const int64_t trained = elements(model.parameters());
  out.parameters = (trained + elements(model.buffers())) * 4;
  out.gradients = trained * 4;
  out.optimizer = trained * 8 + std::ssize(model.parameters()) * 4;
  out.weights_kept = out.parameters;
  out.margin = 0.05;
  out.is_uneven = true;
  const int64_t molecules = std::max<int64_t>(1, sizes.molecules);
  const memory::Size batch = {sizes.batch, sizes.batch * sizes.atoms / molecules,
                              sizes.batch * 2 * (sizes.bonds + sizes.pairs) / molecules};
  const auto gradients = static_cast<double>(out.gradients);
  out.phases = phases_of(config, form, sizes, batch, gradients, &out.input);
  out.recount = [=](const memory::Size& size) {
    return phases_of(config, form, sizes, size, gradients);
  };
  if (sizes.kernels != kernels::KernelSet::kCpu) {
    out.rounding = [=](const memory::Size& size, const memory::OtherBlocks& others) {
      memory::Rounding of_size;
      phases_of(config, form, sizes, size, gradients, nullptr, &of_size);
      return of_size(size, others);
    };
  }
  return out;
}

}  // namespace kdgat::molecules
