// A small network on plain numbers alone: what an encoder that is given them has to add to.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/train/metrics/retrieval.h"
#include "fields/molecules/equivariant/pocket_data.h"

namespace kdgat::equivariant {

/// Ranks of the ligands of `ids` by a perceptron on plain numbers (plain_numbers.h): one hidden
/// layer of the width that an encoder with plain numbers has, trained on the training molecules by
/// cross entropy among their ligands, 40 epochs whatever validation says. `seed` alone draws.
/// `check` is called in each epoch; it may throw.
std::vector<int64_t> ranks_by_plain_network(const PocketData& data, const std::vector<int64_t>& ids,
                                            const train::Catalogue& catalogue, int64_t seed,
                                            const std::function<void()>& check);

}  // namespace kdgat::equivariant
