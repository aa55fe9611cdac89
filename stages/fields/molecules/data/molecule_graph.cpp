#include "fields/molecules/data/molecule_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fields/molecules/data/neighbours.h"

namespace kdgat::molecules {
namespace {

// What the published program divides by.
constexpr double kLengthUnit = 2, kBondForceUnit = 500, kAngleUnit = 180, kAngleForceUnit = 200;
constexpr double kDihedralForceUnit = 20, kPeriodicityUnit = 6, kPhaseUnit = 360;

template <class... Values>
void append(std::vector<float>& to, Values... values) {
  (to.push_back(static_cast<float>(values)), ...);
}

void add_atoms(const Molecule& molecule, MoleculeGraph& out) {
  Point centre{};
  for (const Atom& atom : molecule.atoms) {
    for (std::size_t d = 0; d < 3; ++d) centre[d] += atom.pos[d];
  }
  for (double& value : centre) value /= static_cast<double>(molecule.atoms.size());
  for (const Atom& atom : molecule.atoms) {
    append(out.x, atom.charge, atom.number, atom.mass);
    for (std::size_t d = 0; d < 3; ++d) append(out.pos, atom.pos[d] - centre[d]);
    out.charge += atom.charge;
  }
}

/// Bonds in ascending order; those that stand several times once.
void add_bonds(const Molecule& molecule, MoleculeGraph& out) {
  std::vector<std::size_t> order(molecule.bonds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto ends = [&](std::size_t b) {
    const Bond& bond = molecule.bonds[b];
    return std::array{std::min(bond.i, bond.j), std::max(bond.i, bond.j)};
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ends(a) < ends(b); });
  for (const std::size_t b : order) {
    if (!out.bonds.empty() && out.bonds.back() == ends(b)) continue;
    out.bonds.push_back(ends(b));
    append(out.bond_attr, molecule.bonds[b].length / kLengthUnit,
           molecule.bonds[b].k / kBondForceUnit);
  }
}

void add_pairs(const Molecule& molecule, double cutoff, MoleculeGraph& out) {
  std::vector<Point> points;
  points.reserve(molecule.atoms.size());
  for (const Atom& atom : molecule.atoms) points.push_back(atom.pos);
  std::vector<std::array<int32_t, 2>> bonded = out.bonds;
  for (const auto& [i, j] : molecule.hydrogen_bonds) {
    bonded.push_back({std::min(i, j), std::max(i, j)});
  }
  std::sort(bonded.begin(), bonded.end());
  for (const auto& [i, j] : pairs_within(points, cutoff)) {
    const std::array<int32_t, 2> pair = {i, j};
    if (std::binary_search(bonded.begin(), bonded.end(), pair)) continue;
    const Atom &a = molecule.atoms[static_cast<std::size_t>(i)],
               &b = molecule.atoms[static_cast<std::size_t>(j)];
    const std::size_t kind = molecule.pair_of(a, b);
    out.pairs.push_back(pair);
    append(out.pair_attr, std::log1p(molecule.lj_a[kind]), std::log1p(molecule.lj_b[kind]),
           std::sqrt(squared_distance(a.pos, b.pos)));
  }
}

}  // namespace

MoleculeGraph graph_of(const Molecule& molecule, double cutoff) {
  MoleculeGraph out;
  out.residues = static_cast<int64_t>(molecule.residues.size());
  add_atoms(molecule, out);
  add_bonds(molecule, out);
  add_pairs(molecule, cutoff, out);
  for (const Angle& angle : molecule.angles) {
    out.angles.push_back({angle.i, angle.j, angle.k});
    append(out.angle_attr, angle.degrees / kAngleUnit, angle.force / kAngleForceUnit);
  }
  for (const Dihedral& term : molecule.dihedrals) {
    out.dihedrals.push_back({term.i, term.j, term.k, term.l});
    append(out.dihedral_attr, term.force / kDihedralForceUnit, term.periodicity / kPeriodicityUnit,
           term.degrees / kPhaseUnit);
    out.impropers += term.is_improper ? 1 : 0;
  }
  return out;
}

}  // namespace kdgat::molecules
