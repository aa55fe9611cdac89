// A molecule's arrays as models read them, and statistics of atoms.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fields/molecules/data/molecule_store.h"

namespace kdgat::molecules {

/// A molecule's arrays, wherever they stand; numbers of atoms are its own.
struct MoleculeView {
  std::span<const float> x, pos;
  std::span<const int32_t> bonds, pairs, angles, dihedrals;
  std::span<const float> bond_attr, pair_attr, angle_attr, dihedral_attr;
};
MoleculeView view_of(const MoleculeStore& store, int64_t id);
MoleculeView view_of(const MoleculeGraph& molecule);

/// Of the atoms that a model is trained on.
struct AtomStatistics {
  std::array<double, kAtomFeatures> mean{}, deviation{};
  /// Charge in 1e-4 e and atomic number, ascending: a template gives each atom of a residue its
  /// own.
  std::vector<std::pair<int64_t, int64_t>> kinds;
};

/// What AtomStatistics::kinds holds of an atom's kAtomFeatures numbers.
std::pair<int64_t, int64_t> kind_of_atom(const float* atom);

/// Of the molecules `ids`. A deviation below 1e-8 is 1.
AtomStatistics atom_statistics(const MoleculeStore& store, std::span<const int64_t> ids);

}  // namespace kdgat::molecules
