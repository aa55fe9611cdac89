// What ranks ligands without a network, beside the network.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/train/metrics/retrieval.h"
#include "fields/molecules/equivariant/pocket_data.h"

namespace kdgat::equivariant {

/// Ranks of the ligands of `ids`: the catalogue by its distance to the mean embedding of the
/// training molecules.
std::vector<int64_t> ranks_by_mean(const PocketData& data, const std::vector<int64_t>& ids,
                                   const train::Catalogue& catalogue);

/// The same by its distance to the embedding of one ligand: that of the training molecule that is
/// nearest in plain numbers (plain_numbers.h, z-scored over the training molecules).
std::vector<int64_t> ranks_by_nearest(const PocketData& data, const std::vector<int64_t>& ids,
                                      const train::Catalogue& catalogue);

}  // namespace kdgat::equivariant
