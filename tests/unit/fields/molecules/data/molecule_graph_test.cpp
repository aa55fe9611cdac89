#include "fields/molecules/data/molecule_graph.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "engine/arrays/random.h"
#include "engine/file/safetensors.h"
#include "fields/molecules/data/amber.h"
#include "fields/molecules/data/force_field.h"
#include "fields/molecules/data/neighbours.h"
#include "fields/molecules/data/nucleotide_chain.h"
#include "support/can/log_text.h"
#include "support/fields/molecules/molecule_text.h"

namespace kdgat::molecules {
namespace {

std::vector<std::size_t> all_residues(const Structure& s) {
  std::vector<std::size_t> out(s.residues.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

int64_t directed(const std::vector<std::array<int32_t, 2>>& pairs) {
  return 2 * static_cast<int64_t>(pairs.size());
}

}  // namespace

TEST_CASE("pairs near one another are those of the plain search", "[molecules]") {
  arrays::Random random(5);
  for (int round = 0; round < 60; ++round) {
    const double size = 1 + 30 * random.uniform(), cutoff = 0.3 + 5 * random.uniform();
    std::vector<Point> points(random.below(120));
    for (Point& p : points) {
      for (double& x : p) x = size * (random.uniform() - 0.5);
    }
    if (round % 5 == 0 && points.size() > 2) {
      points[1] = points[0];
      points[2][0] = 1e18;  // far from everything
    }
    std::vector<std::pair<int32_t, int32_t>> plain;
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t j = i + 1; j < points.size(); ++j) {
        if (squared_distance(points[i], points[j]) <= cutoff * cutoff) {
          plain.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(j));
        }
      }
    }
    CHECK(pairs_within(points, cutoff) == plain);
  }
}

TEST_CASE("a molecule as arrays in the published units", "[molecules]") {
  Molecule m = read_amber_topology(file::LineReader("a", test::small_topology()));
  read_amber_coordinates(file::LineReader("b", test::small_coordinates()), m);
  const MoleculeGraph g = graph_of(m, 2.7);
  REQUIRE(g.atoms() == 4);
  CHECK(g.x[3] == Approx(-2));
  CHECK(g.x[4] == 7);
  CHECK(g.charge == Approx(0).margin(1e-12));
  for (std::size_t d = 0; d < 3; ++d) {  // around the centre
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += g.pos[3 * i + d];
    CHECK(sum == Approx(0).margin(1e-5));
  }
  REQUIRE(g.bonds.size() == 2);
  CHECK(g.bond_attr[0] == Approx(0.75));
  CHECK(g.bond_attr[1] == Approx(0.6));
  // C-O over the angle, N-H; C-H has a bond, O-H is 2.99 A.
  const std::vector<std::array<int32_t, 2>> pairs = {{0, 2}, {1, 3}};
  REQUIRE(g.pairs == pairs);
  CHECK(g.pair_attr[0] == Approx(std::log1p(2e6)));
  CHECK(g.pair_attr[1] == Approx(std::log1p(2e3)));
  CHECK(g.pair_attr[2] == Approx(std::sqrt(4.5)));
  CHECK(g.angle_attr[0] == Approx(0.5));
  CHECK(g.angle_attr[1] == Approx(0.25));
  CHECK(g.dihedral_attr[0] == Approx(0.1));
  CHECK(g.dihedral_attr[1] == Approx(1.0 / 3));
  CHECK(g.dihedral_attr[2] == Approx(0.5));
  CHECK(g.impropers == 1);
}

TEST_CASE("names of nucleotides", "[molecules]") {
  for (const char* name : {"A", "A5", "A3", "RA", "RA5", "RA3", "AN"}) {
    CHECK(nucleotide_of(name) == 'A');
  }
  CHECK(nucleotide_of("RU") == 'U');
  for (const char* name : {"", "R", "DA", "ALA", "MG", "HOH", "ARG", "T", "A7", "PSU"}) {
    CHECK(nucleotide_of(name) == 0);
  }
}

TEST_CASE("terms by names: those with an atom that is missing drop out", "[molecules]") {
  NucleotideChain chain;
  for (const char base : {'A', 'C', 'G', 'U'}) chain.add(base, {});
  Structure s = chain.structure();
  LeftOut left_out;
  const MoleculeGraph whole = graph_of(with_force_field(s, all_residues(s), false, left_out), 4);
  CHECK(left_out.atoms.empty());
  CHECK(whole.atoms() == 22 + 20 + 23 + 20);
  CHECK(whole.residues == 4);
  // Rings closed, and each residue linked to the one before.
  CHECK(whole.bonds.size() == 4 * 12 + (12 + 9 + 13 + 9) + 3);
  const auto o3 = std::find_if(s.residues[1].atoms.begin(), s.residues[1].atoms.end(),
                               [](const SolvedAtom& atom) { return atom.name == "O3'"; });
  s.residues[1].atoms.erase(o3);
  const MoleculeGraph cut = graph_of(with_force_field(s, all_residues(s), false, left_out), 4);
  CHECK(cut.bonds.size() == whole.bonds.size() - 2);
  CHECK(cut.angles.size() < whole.angles.size());
  // An order of residues that is not that of the strand changes numbers of atoms alone.
  const MoleculeGraph turned =
      graph_of(with_force_field(chain.structure(), {2, 0, 3, 1}, false, left_out), 4);
  CHECK(turned.bonds.size() == whole.bonds.size());
  CHECK(turned.dihedrals.size() == whole.dihedrals.size());
  CHECK(turned.pairs.size() == whole.pairs.size());
}

TEST_CASE("residues that are no RNA are left out and named, or bonded by distance", "[molecules]") {
  const Structure s =
      read_pdb(file::LineReader("a.pdb", test::pdb_row("P", "A", 1, {0, 0, 0}, "P") +
                                             test::pdb_row("XX", "A", 1, {3, 3, 3}, "C") +
                                             test::pdb_row("C1", "LIG", 2, {10, 0, 0}, "C") +
                                             test::pdb_row("C2", "LIG", 2, {11.5, 0, 0}, "C") +
                                             test::pdb_row("C3", "LIG", 2, {14, 0, 0}, "C")));
  LeftOut left_out;
  CHECK(with_force_field(s, all_residues(s), false, left_out).atoms.size() == 1);
  CHECK(left_out.residues == std::map<std::string, int64_t>{{"LIG", 1}});
  CHECK(left_out.atoms == std::map<std::string, int64_t>{{"A:XX", 1}});
  const MoleculeGraph g = graph_of(with_force_field(s, all_residues(s), true, left_out), 4);
  CHECK(g.atoms() == 4);
  const std::vector<std::array<int32_t, 2>> bonds = {{1, 2}};
  CHECK(g.bonds == bonds);
  CHECK(g.bond_attr == std::vector<float>{0, 0});
}

TEST_CASE("a strand of RNA from AMBER and from PDB, and pockets of an entry: golden counts",
          "[molecules]") {
  const auto data = test::shared_path("data/rna");
  if (!data) return;
  Molecule amber = read_amber_topology(file::LineReader(*data / "gaucu.parm7.gz"));
  read_amber_coordinates(file::LineReader(*data / "gaucu.rst7.gz"), amber);
  const Structure solved = read_pdb(file::LineReader(*data / "gaucu.pdb.gz"));
  LeftOut left_out;
  const Molecule named = with_force_field(solved, all_residues(solved), false, left_out);
  CHECK(left_out.atoms.empty());
  const std::vector<std::pair<double, std::array<int64_t, 2>>> wanted = {
      {4, {2306, 902}}, {5, {3720, 1402}}, {6, {5128, 2022}}};
  for (const auto& [cutoff, pairs] : wanted) {
    const MoleculeGraph a = graph_of(amber, cutoff), b = graph_of(named, cutoff);
    CHECK(a.atoms() == 157);
    CHECK(b.atoms() == 102);
    CHECK(a.residues == 5);
    CHECK(a.charge == Approx(-4).margin(1e-4));
    for (const MoleculeGraph* g : {&a, &b}) {
      CHECK(g->bonds.size() == 113);
      CHECK(g->angles.size() == 174);
      CHECK(g->dihedrals.size() == 341);
      CHECK(g->impropers == 14);
    }
    CHECK(directed(a.pairs) == pairs[0]);
    CHECK(directed(b.pairs) == pairs[1]);
  }
  double strain = 0;
  for (const Bond& bond : amber.bonds) {
    const double off =
        std::sqrt(squared_distance(amber.atoms[static_cast<std::size_t>(bond.i)].pos,
                                   amber.atoms[static_cast<std::size_t>(bond.j)].pos)) -
        bond.length;
    strain += bond.k / 500 * off * off;
  }
  CHECK(strain / static_cast<double>(amber.bonds.size()) == Approx(1.88e-4).epsilon(0.005));

  const Structure entry = read_mmcif(file::LineReader(*data / "3d2g.cif.gz"));
  std::vector<bool> is_rna;
  for (const SolvedResidue& r : entry.residues) is_rna.push_back(nucleotide_of(r.name) != 0);
  const std::vector<Pocket> pockets = cut_pockets(entry, "TPP", 5, is_rna);
  REQUIRE(pockets.size() == 2);
  CHECK(pockets[0].residues.size() == 15);
  CHECK(pockets[1].residues.size() == 16);
  CHECK(with_force_field(entry, pockets[0].residues, false, left_out).atoms.size() == 324);
  CHECK(with_force_field(entry, pockets[1].residues, false, left_out).atoms.size() == 347);
}

TEST_CASE("the arrays of a molecule equal the golden ones, term by term", "[molecules][golden]") {
  const auto data = test::shared_path("data/rna"), fixtures = test::shared_path("fixtures");
  if (!data || !fixtures) return;
  const auto golden = file::SafetensorsFile::open(*fixtures / "rna3e_gaucu.safetensors");
  Molecule amber = read_amber_topology(file::LineReader(*data / "gaucu.parm7.gz"));
  read_amber_coordinates(file::LineReader(*data / "gaucu.rst7.gz"), amber);
  const MoleculeGraph found = graph_of(amber, golden.require<double>("cutoff", {})[0]);
  const auto x = golden.require<float>("x", {157, kAtomFeatures});
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(found.x[i] == Approx(x[i]).margin(2e-4));

  // Rows of ends and numbers, in any order; of pairs of atoms both directions.
  using Row = std::pair<std::vector<int64_t>, std::vector<double>>;
  const auto wanted = [&](const std::string& name, std::size_t ends, std::size_t features) {
    const auto index = golden.require<int32_t>(name + "_index", {static_cast<int64_t>(ends), -1});
    const std::size_t count = index.size() / ends;
    const auto attr = golden.require<float>(
        name + "_attr", {static_cast<int64_t>(count), static_cast<int64_t>(features)});
    std::vector<Row> out(count);
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t k = 0; k < ends; ++k) out[t].first.push_back(index[k * count + t]);
      for (std::size_t f = 0; f < features; ++f) out[t].second.push_back(attr[t * features + f]);
    }
    return out;
  };
  const auto ours = [](const auto& terms, const std::vector<float>& attr, bool both) {
    std::vector<Row> out;
    const std::size_t features = terms.empty() ? 0 : attr.size() / terms.size();
    for (std::size_t t = 0; t < terms.size(); ++t) {
      Row row{{terms[t].begin(), terms[t].end()}, {}};
      row.second.assign(attr.begin() + static_cast<std::ptrdiff_t>(t * features),
                        attr.begin() + static_cast<std::ptrdiff_t>((t + 1) * features));
      out.push_back(row);
      if (!both) continue;
      std::reverse(row.first.begin(), row.first.end());
      out.push_back(row);
    }
    return out;
  };
  const auto compare = [](const std::string& what, std::vector<Row> a, std::vector<Row> b) {
    INFO(what);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    REQUIRE(a.size() == b.size());
    for (std::size_t t = 0; t < a.size(); ++t) {
      CHECK(a[t].first == b[t].first);
      for (std::size_t f = 0; f < a[t].second.size(); ++f) {
        CHECK(a[t].second[f] == Approx(b[t].second[f]).epsilon(1e-4).margin(1e-4));
      }
    }
  };
  compare("bonds", ours(found.bonds, found.bond_attr, true), wanted("edge", 2, kBondFeatures));
  compare("pairs", ours(found.pairs, found.pair_attr, true),
          wanted("nonbonded_edge", 2, kPairFeatures));
  compare("angles", ours(found.angles, found.angle_attr, false),
          wanted("triple", 3, kAngleFeatures));
  compare("dihedrals", ours(found.dihedrals, found.dihedral_attr, false),
          wanted("quadra", 4, kDihedralFeatures));
}

}  // namespace kdgat::molecules
