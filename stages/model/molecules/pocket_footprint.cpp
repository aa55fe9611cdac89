#include "model/molecules/pocket_footprint.h"

#include <algorithm>

#include "data/molecules/molecule_graph.h"
#include "model/molecules/couplings.h"
#include "model/molecules/tensor_product.h"

namespace kdgat::model {
namespace {

constexpr double kFloat = 4, kLong = 8;

int64_t elements(const std::vector<at::Tensor>& tensors) {
  int64_t out = 0;
  for (const at::Tensor& tensor : tensors) out += tensor.numel();
  return out;
}

}  // namespace

memory::Footprint footprint(const PocketConfig& config, const memory::StepForm& form,
                            const PocketSizes& sizes, const torch::nn::Module& model) {
  const auto atoms = static_cast<double>(std::max<int64_t>(1, sizes.atoms));
  const double terms =
      config.multi_hop ? static_cast<double>(sizes.angles + sizes.dihedrals) / atoms : 0.0;
  const auto dim = static_cast<double>(config.hidden.dim());
  const auto gated = static_cast<double>(config.hidden.gated().dim());
  const auto scalars = static_cast<double>(config.hidden.mul[0]);
  const auto hidden = static_cast<double>(config.radial_hidden);

  memory::Footprint out;
  const int64_t trained = elements(model.parameters());
  out.parameters = (trained + elements(model.buffers())) * 4;
  out.gradients = trained * 4;
  out.optimizer = trained * 8;
  out.weights_kept = out.parameters;

  // A molecule's arrays: features, and the terms' ends and numbers.
  out.input = {.node = kFloat * (2 * graph::kAtomFeatures + 3) + kLong + terms * (4 * kLong + 12),
               .edge = kFloat * (9 + static_cast<double>(config.radial_basis) + 3 + 6)};
  // What a block keeps for backward: the states between its layers, and the rows of its terms.
  const double of_product = 2 * dim + gated;
  const double of_node = kFloat * (of_product + dim + 2 * gated + (config.norm ? 2 * dim : 0)) *
                         (config.nonbonded ? 2 : 1);
  const double of_term = kFloat * (2 * scalars + 3 + 4.0 * kTermHidden + scalars);
  const double block = of_node + terms * of_term;
  const auto layers = static_cast<double>(config.layers);
  const double kept = config.checkpoints ? layers * kFloat * dim + block : layers * block;
  // The product's backward pass: the gradients of its weights and states once a part, and of each
  // edge's hidden row what its network needs.
  const int64_t molecules = std::max<int64_t>(1, sizes.molecules);
  const auto parts = static_cast<double>(product_parts_of(
      sizes.batch * sizes.atoms / molecules,
      sizes.batch * 2 * (config.nonbonded ? sizes.pairs : sizes.bonds) / molecules));
  const double weights = static_cast<double>(edge_weights(config.hidden)) * (hidden + 1);
  const double pairs = static_cast<double>(std::max<int64_t>(1, sizes.pairs));
  const double of_pairs =
      config.nonbonded ? pairs / (pairs + static_cast<double>(sizes.bonds)) : 1.0;
  out.phases = {{"backward", out.input + memory::Cost{.fixed = parts * kFloat * weights,
                                                      .node = kept + kFloat * (parts + 5) * dim,
                                                      .edge = of_pairs * kFloat * 4 * hidden}}};
  if (form.accumulates()) out.phases.front().cost.fixed += static_cast<double>(out.gradients);
  return out;
}

}  // namespace kdgat::model
