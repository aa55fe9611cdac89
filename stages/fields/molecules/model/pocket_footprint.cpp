#include "fields/molecules/model/pocket_footprint.h"

#include "fields/molecules/data/molecule_graph.h"
#include "fields/molecules/model/couplings.h"

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
Held edges_of(PocketCount& step, const PocketCount::Edges& edges, const PocketConfig& config) {
  const auto basis = static_cast<double>(config.radial_basis),
             features = static_cast<double>(edges.features);
  constexpr double kWide = PocketCount::kDouble;
  const Held attributes =
      step.tape.hold(edges.rows * (PocketCount::kFloat * features + 4 * PocketCount::kInt));
  const Held harmonics = step.tape.hold(edges.rows * (kWide * (kHarmonics + 1)));
  step.tape.hold(edges.rows * (kWide * (3 * basis + 4)));
  return step.tape.hold(edges.rows * (PocketCount::kFloat * (kHarmonics + basis + features)));
}

constexpr std::size_t kPairs = 2, kTerms = 3;  // of input()

/// The batch; holds what it is made of.
std::vector<Held> input(PocketCount& step, const PocketConfig& config) {
  Tape& tape = step.tape;
  tape.enter("the input");
  constexpr double kFloat = PocketCount::kFloat, kLong = PocketCount::kLong;
  std::vector<Held> out = {tape.hold(PocketCount::kAtoms * (kFloat * (kAtomFeatures + 3) + kLong) +
                                     PocketCount::kMolecules * (3 * kLong)),
                           edges_of(step, step.bonded, config),
                           edges_of(step, step.nonbonded, config)};
  out.push_back(tape.hold(step.angles * (3 * kLong + kFloat * term_features(config, 3)) +
                          step.dihedrals * (4 * kLong + kFloat * term_features(config, 4))));
  if (config.atom_kinds > 0) out.push_back(tape.hold(PocketCount::kAtoms * kLong));
  return out;
}

/// The loss of vectors of molecules, and the whole way back.
void backward(PocketCount& step, const Value& vectors, double catalogue) {
  Tape& tape = step.tape;
  const double width = vectors.width;
  tape.enter("the loss");
  // Vectors of ligands as they are and as unit rows, and rounded where products are.
  const Held ligands =
      tape.hold(PocketCount::kOnce *
                (catalogue * width * (2 * PocketCount::kFloat + (step.is_short() ? 2 : 0))));
  const Held others = step.rows(PocketCount::kMolecules, 3 * width + 3 * catalogue);
  const Value loss = tape.value(PocketCount::kMolecules, 1);
  tape.then(loss, [&tape, vectors, ligands, others](const Held&) {
    const Held unit = tape.hold(vectors.bytes() * 2);
    tape.give(vectors);
  });
  tape.give(loss);
  tape.backward();
}

/// What a step of this size holds on top of weights, gradients and moments.
std::vector<memory::Phase> phases_of(const PocketEncoder& encoder, const memory::StepForm& form,
                                     const PocketSizes& sizes, const memory::Size& size,
                                     double gradients, Cost* of_input = nullptr,
                                     memory::Rounding* rounding = nullptr) {
  const PocketConfig& config = encoder->config();
  PocketCount step(form, sizes, size);
  if (rounding != nullptr) step.tape.follow_blocks();
  Cost batch_bytes;
  {
    std::vector<Held> batch = input(step, config);
    for (const Held& held : batch) batch_bytes += *held;
    const Value vectors = encoder->count(step);
    // What no layer reads does not outlive the way forth.
    if (!config.nonbonded) batch[kPairs] = nullptr;
    if (!config.multi_hop) batch[kTerms] = nullptr;
    backward(step, vectors, static_cast<double>(sizes.catalogue));
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

memory::Footprint footprint(const PocketEncoder& encoder, const memory::StepForm& form,
                            const PocketSizes& sizes, const torch::nn::Module& trained) {
  memory::Footprint out;
  const int64_t parameters = elements(trained.parameters());
  out.parameters = (parameters + elements(trained.buffers())) * 4;
  out.gradients = parameters * 4;
  out.optimizer = parameters * 8 + std::ssize(trained.parameters()) * 4;
  out.weights_kept = out.parameters;
  out.margin = 0.05;
  out.is_uneven = true;
  const int64_t molecules = std::max<int64_t>(1, sizes.molecules);
  const memory::Size batch = {sizes.batch, sizes.batch * sizes.atoms / molecules,
                              sizes.batch * 2 * (sizes.bonds + sizes.pairs) / molecules};
  const auto gradients = static_cast<double>(out.gradients);
  out.phases = phases_of(encoder, form, sizes, batch, gradients, &out.input);
  out.recount = [=](const memory::Size& size) {
    return phases_of(encoder, form, sizes, size, gradients);
  };
  if (sizes.kernels != kernels::KernelSet::kCpu) {
    out.rounding = [=](const memory::Size& size, const memory::OtherBlocks& others) {
      memory::Rounding of_size;
      phases_of(encoder, form, sizes, size, gradients, nullptr, &of_size);
      return of_size(size, others);
    };
  }
  return out;
}

}  // namespace kdgat::molecules
