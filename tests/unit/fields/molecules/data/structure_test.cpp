#include "fields/molecules/data/structure.h"

#include <catch2/catch.hpp>

#include "support/can/log_text.h"
#include "support/fields/molecules/molecule_text.h"

namespace kdgat::molecules {
namespace {

using Catch::Contains;
using test::pdb_row;

Structure pdb(const std::string& text) { return read_pdb(file::LineReader("a.pdb", text)); }
Structure cif(const std::string& text) { return read_mmcif(file::LineReader("a.cif", text)); }

const std::string kColumns =
    "data_1ABC\n#\nloop_\n_other.id\n1\n2\n#\nloop_\n_atom_site.group_PDB\n_atom_site.type_symbol\n"
    "_atom_site.label_atom_id\n_atom_site.label_alt_id\n_atom_site.label_comp_id\n"
    "_atom_site.label_asym_id\n_atom_site.label_seq_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n"
    "_atom_site.Cartn_z\n_atom_site.auth_seq_id\n_atom_site.pdbx_PDB_model_num\n";

}  // namespace

TEST_CASE("a PDB file by residue, in names of today", "[molecules]") {
  const Structure s =
      pdb("HEADER    RNA\nMODEL        1\n" + pdb_row("O1P", "A", 1, {1, 2, 3}, "O") +
          pdb_row("O5*", "A", 1, {2, 2, 3}, "O") + pdb_row("H1*", "A", 1, {9, 9, 9}, "H") +
          pdb_row("P", "G", 2, {4, 2, 3}, "") + pdb_row("MG", "MG", 90, {5, 5, 5}, "", "HETATM") +
          "ENDMDL\nMODEL        2\n" + pdb_row("P", "G", 2, {8, 8, 8}, "P"));
  REQUIRE(s.residues.size() == 3);
  CHECK(s.rows == 5);
  CHECK(s.hydrogens == 1);
  CHECK(s.residues[0].atoms[0].name == "OP1");
  CHECK(s.residues[0].atoms[1].name == "O5'");
  CHECK(s.residues[1].atoms[0].pos == Point{4, 2, 3});  // of the first model
  CHECK(s.residues[1].atoms[0].number == 15);           // by its name
  CHECK(s.residues[2].atoms[0].number == 12);           // an ion is named as its residue
  CHECK(s.residues[2].title() == "chain A, MG 90");
}

TEST_CASE("of alternative locations A is taken wherever it stands", "[molecules]") {
  const std::string b = pdb_row("P", "A", 1, {2, 0, 0}, "P", "ATOM", "B"),
                    a = pdb_row("P", "A", 1, {1, 0, 0}, "P", "ATOM", "A");
  for (const std::string& text : {a + b, b + a}) {
    const Structure s = pdb(text);
    REQUIRE(s.residues.size() == 1);
    REQUIRE(s.residues[0].atoms.size() == 1);
    CHECK(s.residues[0].atoms[0].pos[0] == 1);
    CHECK(s.alternates == 1);
  }
}

TEST_CASE("a chain name that is used again after TER is another chain", "[molecules]") {
  const std::string chain =
      pdb_row("P", "A", 1, {1, 2, 3}, "P") + pdb_row("O5'", "A", 1, {2, 2, 3}, "O");
  const Structure two = pdb(chain + "TER\n" + chain + "TER\nEND\n");
  REQUIRE(two.residues.size() == 2);
  CHECK(two.residues[1].atoms.size() == 2);
  CHECK(two.repeated == 0);
  const Structure one = pdb(chain + chain);  // nothing says that a chain ends
  CHECK(one.residues.size() == 1);
  CHECK(one.repeated == 2);
  CHECK_FALSE(one.has_more_models);
}

TEST_CASE("the two chains of a real file are both read", "[molecules]") {
  const auto source = test::shared_path("field/two_chains_A.pdb");
  if (!source) return;
  std::size_t atoms = 0;
  for (const SolvedResidue& residue : read_pdb(file::LineReader(*source)).residues) {
    atoms += residue.atoms.size();
  }
  CHECK(atoms == 160);
}

TEST_CASE("a PDB file that is not sound is refused with its line", "[molecules]") {
  const std::string good = pdb_row("P", "A", 1, {1, 2, 3}, "P");
  std::string bad = good, far = good;
  bad.replace(33, 3, "x.y");
  far.replace(30, 8, "     inf");
  CHECK_THAT(test::data_error([&] { pdb(good + bad); }),
             Contains("a.pdb:2: ") && Contains("coordinate"));
  CHECK_THAT(test::data_error([&] { pdb(far); }), Contains("a.pdb:1: "));
  CHECK_THAT(test::data_error([&] { pdb(good.substr(0, 40)); }), Contains("cut off"));
  CHECK_THAT(test::data_error([&] { pdb("HEADER\nEND\n"); }), Contains("no atoms"));
  CHECK_THAT(test::data_error([&] { pdb(""); }), Contains("no atoms"));
}

TEST_CASE("an mmCIF file by residue, with author numbering", "[molecules]") {
  const Structure s = cif(kColumns +
                          "ATOM P P . A X 1 1.0 2.0 3.0 22 1\n"
                          "ATOM O \"O5'\" . A X 1 2.0 2.0 3.0 22 1\n"
                          "ATOM O 'O5'' B A X 1 7.0 2.0 3.0 22 1\n"
                          "HETATM MG MG . MG Y . 5 5 5 90 1\nATOM P P . A X 1 9 9 9 22 2\n#\n"
                          "loop_\n_rest.id\n1\n");
  REQUIRE(s.residues.size() == 2);
  CHECK(s.residues[0].number == "22");
  CHECK(s.residues[0].chain == "X");
  REQUIRE(s.residues[0].atoms.size() == 2);
  CHECK(s.residues[0].atoms[1].name == "O5'");
  CHECK(s.residues[0].atoms[1].pos[0] == 2);
  CHECK(s.residues[1].atoms[0].number == 12);
  CHECK(s.rows == 4);
}

TEST_CASE("an mmCIF file that is not sound is refused with its line", "[molecules]") {
  CHECK_THAT(test::data_error([&] { cif(kColumns + "ATOM P P . A X 1 1.0 2.0\n"); }),
             Contains("a.cif:") && Contains("cut off"));
  CHECK_THAT(test::data_error([&] { cif(kColumns + "ATOM P P . A X 1 ? 2.0 3.0 22 1\n"); }),
             Contains("no coordinate"));
  CHECK_THAT(test::data_error([&] { cif(kColumns + "ATOM P 'P . A\n"); }),
             Contains("quote that does not end"));
  CHECK_THAT(test::data_error([&] { cif("data_x\n_a.b\n;text\n"); }), Contains("does not end"));
  CHECK_THAT(test::data_error([&] { cif("data_x\n"); }), Contains("no atoms"));
}

TEST_CASE("pockets are whole residues near each copy of a ligand", "[molecules]") {
  const Structure s =
      pdb(pdb_row("P", "A", 1, {0, 0, 0}, "P") + pdb_row("OP1", "A", 1, {9, 0, 0}, "O") +
          pdb_row("P", "G", 2, {20, 0, 0}, "P") + pdb_row("O", "HOH", 3, {12, 0, 0}, "O") +
          pdb_row("C1", "TPP", 4, {13, 0, 0}, "C", "HETATM") +
          pdb_row("C1", "TPP", 5, {90, 0, 0}, "C", "HETATM"));
  const std::vector<Pocket> pockets = cut_pockets(s, "TPP", 5, {true, true, false, true, true});
  REQUIRE(pockets.size() == 2);
  CHECK(pockets[0].residues == std::vector<std::size_t>{0});  // whole, though its P is far
  CHECK(pockets[1].residues.empty());
}

}  // namespace kdgat::molecules
