// Molecule: atoms in space and the terms of a force field that hold them together, whatever file
// they came from. Plain data; no LibTorch.
//
// Units: angstroms, elementary charges, atomic mass units, degrees, kcal/mol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kdgat::molecules {

using Point = std::array<double, 3>;  ///< A

inline double squared_distance(const Point& a, const Point& b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

struct Atom {
  Point pos{};
  double charge = 0;
  double mass = 0;
  int32_t number = 0;   ///< of its element
  int32_t type = 0;     ///< of its Lennard-Jones parameters
  int32_t residue = 0;  ///< index
  std::string name;
};

/// Energy k (d - length)^2.
struct Bond {
  int32_t i, j;
  double length, k;
};
/// Energy k (angle - degrees)^2 with the angle in radians, j in the middle.
struct Angle {
  int32_t i, j, k;
  double degrees, force;
};
/// Energy force (1 + cos(periodicity angle - degrees)); several may hold the same atoms.
struct Dihedral {
  int32_t i, j, k, l;
  double force, periodicity, degrees;
  bool is_improper;
};

struct Molecule {
  std::vector<Atom> atoms;
  std::vector<std::string> residues;  ///< names
  // Terms without hydrogen.
  std::vector<Bond> bonds;
  std::vector<std::array<int32_t, 2>>
      hydrogen_bonds;  ///< with hydrogen: no terms, but no pairs either
  std::vector<Angle> angles;
  std::vector<Dihedral> dihedrals;
  int32_t types = 0;               ///< of Lennard-Jones parameters
  std::vector<double> lj_a, lj_b;  ///< [types,types] energy A/d^12 - B/d^6

  std::size_t pair_of(const Atom& a, const Atom& b) const {
    return static_cast<std::size_t>(a.type) * static_cast<std::size_t>(types) +
           static_cast<std::size_t>(b.type);
  }
};

}  // namespace kdgat::molecules
