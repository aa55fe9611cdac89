#include "fields/molecules/model/molecule_view.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace kdgat::molecules {
namespace {

constexpr double kLeastAtomDeviation = 1e-8;

}  // namespace

MoleculeView view_of(const MoleculeStore& store, int64_t id) {
  const auto g = static_cast<std::size_t>(id);
  const auto rows = [g](std::span<const int64_t> ptr, auto values, int64_t width) {
    const auto first = static_cast<std::size_t>(ptr[g] * width);
    return values.subspan(first, static_cast<std::size_t>(ptr[g + 1] * width) - first);
  };
  MoleculeView out;
  out.x = rows(store.atom_ptr(), store.x(), kAtomFeatures);
  out.pos = rows(store.atom_ptr(), store.pos(), 3);
  out.bonds = rows(store.bonds().ptr, store.bonds().index, 2);
  out.pairs = rows(store.pairs().ptr, store.pairs().index, 2);
  out.angles = rows(store.angles().ptr, store.angles().index, 3);
  out.dihedrals = rows(store.dihedrals().ptr, store.dihedrals().index, 4);
  out.bond_attr = rows(store.bonds().ptr, store.bonds().attr, kBondFeatures);
  out.pair_attr = rows(store.pairs().ptr, store.pairs().attr, kPairFeatures);
  out.angle_attr = rows(store.angles().ptr, store.angles().attr, kAngleFeatures);
  out.dihedral_attr = rows(store.dihedrals().ptr, store.dihedrals().attr, kDihedralFeatures);
  return out;
}

MoleculeView view_of(const MoleculeGraph& molecule) {
  const auto flat = [](const auto& terms) {
    return std::span<const int32_t>(terms.empty() ? nullptr : terms.front().data(),
                                    terms.empty() ? 0 : terms.size() * terms.front().size());
  };
  return {molecule.x,
          molecule.pos,
          flat(molecule.bonds),
          flat(molecule.pairs),
          flat(molecule.angles),
          flat(molecule.dihedrals),
          molecule.bond_attr,
          molecule.pair_attr,
          molecule.angle_attr,
          molecule.dihedral_attr};
}

std::pair<int64_t, int64_t> kind_of_atom(const float* atom) {
  constexpr double kChargeUnit = 1e-4;
  return {std::llround(atom[0] / kChargeUnit), std::llround(atom[1])};
}

AtomStatistics atom_statistics(const MoleculeStore& store, std::span<const int64_t> ids) {
  AtomStatistics out;
  std::array<double, kAtomFeatures> sum{}, square{};
  std::set<std::pair<int64_t, int64_t>> kinds;
  double atoms = 0;
  for (const int64_t id : ids) {
    const MoleculeView molecule = view_of(store, id);
    for (std::size_t i = 0; i < molecule.x.size(); i += kAtomFeatures) {
      for (std::size_t f = 0; f < sum.size(); ++f) {
        const double value = molecule.x[i + f];
        sum[f] += value;
        square[f] += value * value;
      }
      kinds.insert(kind_of_atom(&molecule.x[i]));
      ++atoms;
    }
  }
  for (std::size_t f = 0; f < sum.size(); ++f) {
    out.mean[f] = sum[f] / std::max(1.0, atoms);
    const double variance = square[f] / std::max(1.0, atoms) - out.mean[f] * out.mean[f];
    const double deviation = std::sqrt(std::max(0.0, variance));
    out.deviation[f] = deviation < kLeastAtomDeviation ? 1 : deviation;
  }
  out.kinds.assign(kinds.begin(), kinds.end());
  return out;
}

}  // namespace kdgat::molecules
