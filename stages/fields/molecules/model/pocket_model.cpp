#include "fields/molecules/model/pocket_model.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace kdgat::molecules {
namespace {

constexpr double kLeastDeviation = 1e-8;
// Of a molecule without bonds: each atom to itself (length/2, k/500 of 1.5 A and 300).
constexpr float kSelfBond[] = {0.75F, 0.6F};

template <class T>
at::Tensor copy_of(const std::vector<T>& values, std::vector<int64_t> shape, at::ScalarType type) {
  return at::from_blob(const_cast<T*>(values.data()), shape, type).clone();
}

/// Directed edges of a batch, both directions of each that stands in the molecules.
struct Edges {
  std::vector<int32_t> from, to;
  std::vector<float> attr;

  void add(int32_t a, int32_t b, std::span<const float> of_edge) {
    from.push_back(a);
    to.push_back(b);
    attr.insert(attr.end(), of_edge.begin(), of_edge.end());
  }
  void add_both(std::span<const int32_t> ends, std::span<const float> of_edges, int64_t features,
                int32_t first) {
    const auto width = static_cast<std::size_t>(features);
    for (std::size_t e = 0; 2 * e < ends.size(); ++e) {
      const std::span<const float> own = of_edges.subspan(e * width, width);
      add(first + ends[2 * e], first + ends[2 * e + 1], own);
      add(first + ends[2 * e + 1], first + ends[2 * e], own);
    }
  }
  std::shared_ptr<const ProductEdges> over(const at::Tensor& pos, int64_t features,
                                           const PocketConfig& config) const {
    const auto count = static_cast<int64_t>(from.size());
    const at::Tensor index =
        at::stack({copy_of(from, {count}, at::kInt), copy_of(to, {count}, at::kInt)});
    return product_edges(index, copy_of(attr, {count, features}, at::kFloat), pos, config);
  }
};

/// Terms of a batch over `ends` atoms each.
struct Terms {
  std::size_t ends;
  std::vector<int64_t> index;
  std::vector<float> attr;

  void add(std::span<const int32_t> atoms, std::span<const float> of_terms, int32_t first) {
    for (const int32_t atom : atoms) index.push_back(first + atom);
    attr.insert(attr.end(), of_terms.begin(), of_terms.end());
  }
  MoleculeTerms terms(int64_t features, at::Device device) const {
    const auto width = static_cast<int64_t>(ends);
    const auto count = static_cast<int64_t>(index.size()) / width;
    const at::Tensor all = copy_of(index, {count, width}, at::kLong).t().contiguous().to(device);
    MoleculeTerms out;
    out.first = all[0];
    out.last = all[width - 1];
    for (int64_t k = 1; k + 1 < width; ++k) out.centres.push_back(all[k]);
    out.attr = copy_of(attr, {count, features}, at::kFloat).to(device);
    return out;
  }
};

}  // namespace

at::Tensor scaled_embeddings(std::span<const float> embeddings, int64_t width) {
  const auto rows = static_cast<int64_t>(embeddings.size()) / width;
  const at::Tensor all =
      at::from_blob(const_cast<float*>(embeddings.data()), {rows, width}, at::kFloat)
          .to(at::kDouble);
  const at::Tensor deviation = all.std(0, /*unbiased=*/false);
  return ((all - all.mean(0)) /
          at::where(deviation < kLeastDeviation, at::ones_like(deviation), deviation))
      .to(at::kFloat);
}

PocketModelImpl::PocketModelImpl(const PocketConfig& config, int64_t ligands) {
  encoder = register_module("encoder", PocketEncoder(config));
  atom_mean = register_buffer("atom_mean", torch::zeros({kAtomFeatures}));
  atom_deviation = register_buffer("atom_deviation", torch::ones({kAtomFeatures}));
  if (config.plain > 0) {
    plain_mean = register_buffer("plain_mean", torch::zeros({config.plain}));
    plain_deviation = register_buffer("plain_deviation", torch::ones({config.plain}));
  }
  const int64_t known = std::max(config.atom_kinds, config.plain - kDistanceColumns);
  kinds = register_buffer("kinds", torch::zeros({known, 2}, torch::kLong));
  catalogue = register_buffer("catalogue", torch::zeros({ligands, config.output}));
}

void PocketModelImpl::set_statistics(const AtomStatistics& atoms) {
  const at::NoGradGuard no_grad;
  for (int64_t f = 0; f < kAtomFeatures; ++f) {
    atom_mean[f] = atoms.mean[static_cast<std::size_t>(f)];
    atom_deviation[f] = atoms.deviation[static_cast<std::size_t>(f)];
  }
  for (int64_t k = 0; k < kinds.size(0); ++k) {
    kinds[k][0] = atoms.kinds[static_cast<std::size_t>(k)].first;
    kinds[k][1] = atoms.kinds[static_cast<std::size_t>(k)].second;
  }
  places_.clear();
}

void PocketModelImpl::set_plain_statistics(const MoleculeStore& store,
                                           std::span<const int64_t> ids) {
  const at::NoGradGuard no_grad;
  const PlainNumbers numbers = plain_numbers(store, ids, ids);
  const at::Tensor rows =
      copy_of(numbers.rows, {std::ssize(ids), numbers.width}, at::kFloat).to(at::kDouble).log1p();
  const at::Tensor deviation = rows.std(0, /*unbiased=*/false);
  plain_mean.copy_(rows.mean(0));
  plain_deviation.copy_(
      at::where(deviation < kLeastDeviation, at::ones_like(deviation), deviation));
}

const KindPlaces& PocketModelImpl::known_kinds() {
  if (places_.empty()) {
    const at::Tensor all = kinds.cpu();
    const auto rows = all.accessor<int64_t, 2>();
    for (int64_t k = 0; k < all.size(0); ++k) places_[{rows[k][0], rows[k][1]}] = k;
  }
  return places_;
}

/// [G,config.plain]: z-scored, and no further off than what training shows of most numbers: one
/// atom of a kind that was seen once would outweigh all others.
at::Tensor PocketModelImpl::plain_rows(std::span<const MoleculeView> molecules) {
  constexpr double kFurthest = 6;
  const auto width = static_cast<std::size_t>(plain_mean.size(0));
  std::vector<float> rows(molecules.size() * width, 0.0F);
  for (std::size_t g = 0; g < molecules.size(); ++g) {
    count_plain_numbers(molecules[g], known_kinds(), std::span(rows).subspan(g * width, width));
  }
  const at::Tensor counts = copy_of(rows, {std::ssize(molecules), plain_mean.size(0)}, at::kFloat)
                                .to(plain_mean.device());
  return ((counts.log1p() - plain_mean) / plain_deviation).clamp(-kFurthest, kFurthest);
}

MoleculeBatch PocketModelImpl::batch(std::span<const MoleculeView> molecules,
                                     std::span<const int64_t> ids, graph::NoiseKey noise) {
  const at::NoGradGuard no_grad;
  const PocketConfig& config = encoder->config();
  std::vector<float> x, pos;
  std::vector<int64_t> molecule, kind;
  std::vector<int32_t> first = {0};
  Edges bonds, pairs;
  Terms angles{3, {}, {}}, dihedrals{4, {}, {}};
  for (std::size_t g = 0; g < molecules.size(); ++g) {
    const MoleculeView& m = molecules[g];
    const int32_t offset = first.back();
    const auto atoms = static_cast<int32_t>(m.pos.size() / 3);
    x.insert(x.end(), m.x.begin(), m.x.end());
    pos.insert(pos.end(), m.pos.begin(), m.pos.end());
    molecule.insert(molecule.end(), static_cast<std::size_t>(atoms), static_cast<int64_t>(g));
    for (std::size_t i = 0; config.atom_kinds > 0 && i < m.x.size(); i += kAtomFeatures) {
      const auto found = known_kinds().find(kind_of_atom(&m.x[i]));
      kind.push_back(found == known_kinds().end() ? 0 : found->second + 1);  // 0 = never seen
    }
    bonds.add_both(m.bonds, m.bond_attr, kBondFeatures, offset);
    for (int32_t i = 0; m.bonds.empty() && i < atoms; ++i) {
      bonds.add(offset + i, offset + i, kSelfBond);
    }
    pairs.add_both(m.pairs, m.pair_attr, kPairFeatures, offset);
    angles.add(m.angles, m.angle_attr, offset);
    dihedrals.add(m.dihedrals, m.dihedral_attr, offset);
    first.push_back(offset + atoms);
  }
  const at::Device device = atom_mean.device();
  const auto atoms = static_cast<int64_t>(molecule.size());
  MoleculeBatch out;
  out.x = (copy_of(x, {atoms, kAtomFeatures}, at::kFloat).to(device) - atom_mean) / atom_deviation;
  out.molecule = copy_of(molecule, {atoms}, at::kLong).to(device);
  out.molecules = static_cast<int64_t>(molecules.size());
  const at::Tensor places = copy_of(pos, {atoms, 3}, at::kFloat);
  out.bonds = bonds.over(places, kBondFeatures, config);
  out.pairs = pairs.over(places, kPairFeatures, config);
  out.angles = angles.terms(kAngleFeatures, device);
  out.dihedrals = dihedrals.terms(kDihedralFeatures, device);
  if (config.plain > 0) out.plain = plain_rows(molecules);
  if (config.improved_layers) {
    for (MoleculeTerms* terms : {&out.angles, &out.dihedrals}) terms->add_shapes(places);
  }
  if (config.atom_kinds > 0) out.kind = copy_of(kind, {atoms}, at::kLong).to(device);
  out.keys.x_NF = out.x;
  out.keys.node_ptr_G1 = copy_of(first, {out.molecules + 1}, at::kInt).to(device);
  out.keys.graph_id_G =
      at::from_blob(const_cast<int64_t*>(ids.data()), {static_cast<int64_t>(ids.size())}, at::kLong)
          .clone()
          .to(device);
  out.keys.graphs = out.molecules;
  out.keys.nodes = atoms;
  out.keys.noise = noise;
  return out;
}

}  // namespace kdgat::molecules
