// One flipped bit anywhere in a store of molecules: store_flips.h.
#include <catch2/catch.hpp>

#include "fields/molecules/data/molecule_store.h"
#include "support/graphs/store_flips.h"

namespace kdgat::molecules {
namespace {

void use_molecules(const std::filesystem::path& path) {
  const MoleculeStore store = MoleculeStore::open(path, graph::Check::kRanges);
  float sum = 0;
  for (std::size_t g = 0; g + 1 < store.atom_ptr().size(); ++g) {
    const auto walk = [&](const auto& terms, int64_t ends) {
      for (int64_t i = ends * terms.ptr[g]; i < ends * terms.ptr[g + 1]; ++i) {
        const int64_t atom = store.atom_ptr()[g] + terms.index[static_cast<std::size_t>(i)];
        sum += store.pos()[static_cast<std::size_t>(3 * atom + 2)];
      }
    };
    walk(store.bonds(), 2);
    walk(store.pairs(), 2);
    walk(store.angles(), 3);
    walk(store.dihedrals(), 4);
    if (store.ligand()[g] >= 0) {
      const auto ligand = static_cast<std::size_t>(store.ligand()[g]);
      sum += static_cast<float>(store.ligands().at(ligand).size());
      const auto width = static_cast<std::size_t>(store.embedding_width());
      sum += store.embeddings()[ligand * width + width - 1];
    }
  }
  CHECK((sum == sum || sum != sum));
  for (const char* part : kMoleculeParts) store.in_part(part);
  store.verify();
}

}  // namespace

TEST_CASE("a flipped bit of a store of molecules is found, and never leads outside of the file",
          "[flips]") {
  graph::check_flips({test::synth_of("molecules", 6, 60), use_molecules});
}

}  // namespace kdgat::molecules
