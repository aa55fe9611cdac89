#include "fields/molecules/data/amber.h"

#include <catch2/catch.hpp>

#include "support/can/log_text.h"
#include "support/fields/molecules/molecule_text.h"

namespace kdgat::molecules {
namespace {

using Catch::Contains;

Molecule read(const std::string& topology, const std::string& coordinates) {
  Molecule out = read_amber_topology(file::LineReader("top.prmtop", topology));
  read_amber_coordinates(file::LineReader("top.rst7", coordinates), out);
  return out;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a topology of AMBER in the units of a molecule", "[molecules]") {
  const Molecule m = read(test::small_topology(), test::small_coordinates());
  REQUIRE(m.atoms.size() == 4);
  CHECK(m.atoms[0].charge == Approx(1));
  CHECK(m.atoms[1].charge == Approx(-2));
  CHECK(m.atoms[0].name == "C5'1");  // names may touch
  CHECK(m.atoms[3].number == 1);     // by its mass, as the file names no elements
  CHECK(m.atoms[1].number == 7);
  CHECK(m.atoms[1].residue == 0);
  CHECK(m.atoms[2].residue == 1);
  CHECK(m.residues == std::vector<std::string>{"RA5", "RG3"});
  CHECK(m.atoms[2].pos == Point{1.5, 1.5, 0});
  REQUIRE(m.bonds.size() == 2);
  CHECK(m.bonds[1].i == 1);
  CHECK(m.bonds[1].length == 1.5);
  CHECK(m.bonds[1].k == 300);
  CHECK(m.hydrogen_bonds.size() == 1);
  REQUIRE(m.angles.size() == 1);
  CHECK(m.angles[0].degrees == Approx(90));
  REQUIRE(m.dihedrals.size() == 2);
  CHECK(m.dihedrals[0].k == 2);  // the sign says that it has no 1-4 term
  CHECK_FALSE(m.dihedrals[0].is_improper);
  CHECK(m.dihedrals[1].l == 3);
  CHECK(m.dihedrals[1].is_improper);
  CHECK(m.dihedrals[1].degrees == Approx(180));
  CHECK(m.lj_a[m.pair_of(m.atoms[0], m.atoms[1])] == 2e6);
  CHECK(m.lj_b[m.pair_of(m.atoms[2], m.atoms[1])] == 3e3);
}

TEST_CASE("a topology that is not sound is refused with its line", "[molecules]") {
  const std::string good = test::small_topology();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {with(good, "       1       2       2       1\n%FLAG NON",
            "       1       2       3       1\n%FLAG NON"),
       "top.prmtop:17: atom 3 has the type 3 of 2"},
      {with(good, "  1.20100000E+01", "  1.2O100000E+01"), "is no number"},
      {with(good, "  1.20100000E+01", "             nan"), "is no number"},
      {with(good, "%FLAG MASS", "%FLAG MISS"), "no block %FLAG MASS"},
      {with(good, "  1.60000000E+01  1.00800000E+00\n", "  1.60000000E+01\n"),
       "MASS has 3 values, not 4"},
      {with(good, "       0       3       6       1\n", "       0       3      12       1\n"),
       "names the atom 12/3 of 4"},
      {with(good, "       0       3       6       1\n", "       0       3       6       2\n"),
       "names the parameters 2 of 1"},
      {with(good, "       0       9       2\n", "       0       9\n"), "is cut off"},
      {with(good, "%FORMAT(20a4)", "%FORMAT(twenty)"), "no known format"},
      {with(good, "       1       2       2       3\n", "       1       2       2       4\n"),
       "has the parameters 4 of 3"},
      {with(good, "       4       2       1", "99999999       2       1"), "99999999 atoms"},
      {"%FLAG CTITLE\n%FORMAT(a80)\n\n", "top.prmtop:1: a CHAMBER topology"},
      {good + "%FLAG CHARMM_NUM_IMPROPERS\n%FORMAT(i2,a78)\n", "a CHAMBER topology"},
      {"hello\n", "no AMBER topology"},
      {"", "no AMBER topology"},
      {good + "%FLAG MASS\n", "MASS appears twice"}};
  for (const auto& [text, wanted] : cases) {
    const std::string said =
        test::data_error([&] { read_amber_topology(file::LineReader("top.prmtop", text)); });
    CHECK_THAT(said, Contains(wanted));
    CHECK_THAT(said, Contains("top.prmtop"));
  }
}

TEST_CASE("coordinates that do not fit their topology are refused with their line", "[molecules]") {
  const std::string good = test::small_coordinates();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {with(good, "     4\n", "     5\n"), "top.rst7:2: coordinates of '5' atoms"},
      {with(good, "1.5000000   1.5", "1.5000x00   1.5"), "top.rst7:4: "},
      {good.substr(0, good.size() - 30), "the file ends after"},
      {"a title\n", "ends after its title"},
      {"", "ends after its title"}};
  for (const auto& [text, wanted] : cases) {
    CHECK_THAT(test::data_error([&] { read(test::small_topology(), text); }), Contains(wanted));
  }
  // Velocities and a box may follow.
  CHECK(read(test::small_topology(), good + "   9.0   9.0   9.0\n").atoms[3].pos[0] == -1.09);
}

}  // namespace kdgat::molecules
