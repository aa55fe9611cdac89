// Pockets for stages, made up and imported once.
#pragma once

#include <cstdint>

#include "fields/molecules/data/molecule_store.h"
#include "support/graphs/synth_of.h"
#include "support/runs/stage_data.h"

namespace kdgat::test {

/// Pockets of `ligands` ligands.
struct MoleculeFixture : StageData {
  explicit MoleculeFixture(int64_t molecules = 24, int64_t atoms = 60, int64_t ligands = 4) {
    graph::SynthOptions synth = synth_of("molecules", molecules, atoms);
    synth.classes = ligands;
    import_synthetic(*this, synth);
  }
  json facts() const override { return store().facts(); }
  molecules::MoleculeStore store() const { return molecules::MoleculeStore::open(store_file()); }
};

}  // namespace kdgat::test
