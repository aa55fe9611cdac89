// Whatever the bytes, a file of a molecule either throws Error(kData) or gives terms whose atoms
// are in range. The first byte picks the form. With clang: clang++ -std=c++20
// -fsanitize=fuzzer,address with the sources of kdgat_graph.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "fields/molecules/data/amber.h"
#include "fields/molecules/data/force_field.h"
#include "fields/molecules/data/molecule_graph.h"
#include "kdgat/error.h"

namespace {

void check_graph(const kdgat::molecules::MoleculeGraph& g) {
  const auto is_atom = [&](int32_t i) { return i >= 0 && i < g.atoms(); };
  const auto check = [&](const auto& terms, const std::vector<float>& attr, std::size_t features) {
    if (attr.size() != terms.size() * features) std::abort();
    for (const auto& term : terms) {
      for (const int32_t i : term) {
        if (!is_atom(i)) std::abort();
      }
    }
  };
  check(g.bonds, g.bond_attr, 2);
  check(g.pairs, g.pair_attr, 3);
  check(g.angles, g.angle_attr, 2);
  check(g.dihedrals, g.dihedral_attr, 3);
  for (const float x : g.pos) {
    if (std::isnan(x)) std::abort();
  }
}

kdgat::molecules::Molecule named(const kdgat::molecules::Structure& structure, bool bond_others) {
  std::vector<std::size_t> all(structure.residues.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  kdgat::molecules::LeftOut left_out;
  return with_force_field(structure, all, bond_others, left_out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kdgat::file;
  using namespace kdgat::molecules;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr double kCutoff = 3;
  try {
    switch (data[0] % 4) {
      case 0: {
        // The coordinates stand behind the topology.
        const auto at = text.find("a title");
        Molecule molecule = read_amber_topology(LineReader("fuzz", text.substr(0, at)));
        if (at != std::string_view::npos) {
          read_amber_coordinates(LineReader("fuzz", text.substr(at)), molecule);
        }
        if (molecule.atoms.size() < 1000) check_graph(graph_of(molecule, kCutoff));
        break;
      }
      case 1:
        check_graph(graph_of(named(read_pdb(LineReader("fuzz", text)), data[0] >= 128), kCutoff));
        break;
      default:
        check_graph(graph_of(named(read_mmcif(LineReader("fuzz", text)), data[0] >= 128), kCutoff));
    }
  } catch (const kdgat::Error& error) {
    if (error.code() != kdgat::ExitCode::kData) std::abort();
  }
  return 0;
}
