#include <catch2/catch.hpp>

#include "support/fields/molecules/molecule_text.h"
#include "support/programs/mutate.h"

// The fuzz target itself, under a name of its own so that several may stand in one program.
#define LLVMFuzzerTestOneInput fuzz_molecules
#include "fuzz/fuzz_molecules.cpp"
#undef LLVMFuzzerTestOneInput

namespace kdgat::molecules {
namespace {

constexpr int kInputs = 20000;

std::string small_pdb() {
  return test::pdb_row("P", "A", 1, {0, 0, 0}, "P") +
         test::pdb_row("O5'", "A", 1, {1.6, 0, 0}, "O") +
         test::pdb_row("O3'", "A", 1, {5, 0, 0}, "O") +
         test::pdb_row("P", "RG5", 2, {6.5, 0, 0}, "P") +
         test::pdb_row("MG", "MG", 90, {5, 5, 5}, "", "HETATM");
}

TEST_CASE("mutated topologies are refused or read as molecules", "[molecules][fuzz]") {
  test::run_mutations({std::string(1, '\0') + test::small_topology() + test::small_coordinates()},
                      kInputs, 1, fuzz_molecules);
}

TEST_CASE("mutated PDB files are refused or read as molecules", "[molecules][fuzz]") {
  test::run_mutations({'\x01' + small_pdb(), '\x81' + small_pdb()}, kInputs, 2, fuzz_molecules);
}

TEST_CASE("mutated mmCIF files are refused or read as molecules", "[molecules][fuzz]") {
  const std::string cif =
      "data_1\nloop_\n_atom_site.type_symbol\n_atom_site.label_atom_id\n_atom_site.label_comp_id\n"
      "_atom_site.label_asym_id\n_atom_site.label_seq_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n"
      "_atom_site.Cartn_z\nP P A X 1 0 0 0\nO \"O5'\" A X 1 1.6 0 0\nO 'O3'' A X 1 5 0 0\n"
      "P P G X 2 6.5 0 0\n#\n;text\n;\n_a.b 'x'\n";
  test::run_mutations({'\x02' + cif, '\x82' + cif}, kInputs, 3, fuzz_molecules);
}

}  // namespace
}  // namespace kdgat::molecules
