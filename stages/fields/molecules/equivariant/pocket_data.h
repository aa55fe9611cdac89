// The molecules that a pocket encoder is trained and judged on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "fields/molecules/data/molecule_store.h"

namespace kdgat::equivariant {

struct PocketData {
  molecules::MoleculeStore store;
  std::vector<int64_t> train, val, test;  ///< with a ligand that has an embedding

  std::vector<int32_t> ligands(const std::vector<int64_t>& ids) const;
};

/// `folder`: a data set. Throws Error(kData) where ligands or embeddings are missing, or nothing is
/// left to train on.
PocketData open_pockets(const std::filesystem::path& folder);

}  // namespace kdgat::equivariant
