// MoleculeGraph: a molecule as the arrays that a network reads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fields/molecules/data/molecule.h"

namespace kdgat::molecules {

inline constexpr int64_t kAtomFeatures = 3;      ///< charge e, atomic number, mass
inline constexpr int64_t kBondFeatures = 2;      ///< length/2, k/500
inline constexpr int64_t kPairFeatures = 3;      ///< ln(A+1), ln(B+1), distance A
inline constexpr int64_t kAngleFeatures = 2;     ///< degrees/180, k/200
inline constexpr int64_t kDihedralFeatures = 3;  ///< force/20, periodicity/6, phase degrees/360

/// One molecule; numbers of atoms are local to it. Bonds and pairs stand once, the smaller atom
/// first, in ascending order: what is read in both directions has the same features in both.
struct MoleculeGraph {
  std::vector<float> x;    ///< [n,kAtomFeatures]
  std::vector<float> pos;  ///< [n,3] A, from the centre of all atoms
  std::vector<std::array<int32_t, 2>> bonds;
  std::vector<float> bond_attr;               ///< [.,kBondFeatures]
  std::vector<std::array<int32_t, 2>> pairs;  ///< nearer than the cutoff, and no bond
  std::vector<float> pair_attr;
  std::vector<std::array<int32_t, 3>> angles;  ///< the second in the middle
  std::vector<float> angle_attr;
  std::vector<std::array<int32_t, 4>> dihedrals;
  std::vector<float> dihedral_attr;
  int64_t residues = 0, impropers = 0;
  double charge = 0;  ///< of all atoms, e

  int64_t atoms() const { return static_cast<int64_t>(x.size()) / kAtomFeatures; }
};

/// `cutoff` A: the longest distance of pairs.
MoleculeGraph graph_of(const Molecule& molecule, double cutoff);

}  // namespace kdgat::molecules
