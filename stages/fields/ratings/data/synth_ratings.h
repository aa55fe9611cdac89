// Made-up ratings with a known structure, for tests, examples and learning without downloads. The
// same bytes for the same options, on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "engine/data/core/synth_size.h"

namespace kdgat::ratings {

struct SyntheticRating {
  int32_t user = 0, item = 0;  ///< from 0
  int32_t rating = 0;          ///< 1 to 5
};

/// `options.graphs` users rate `items` items (0 = 16 for 9 users), `options.nodes` ratings each,
/// about. User u has the taste u, item i is of the kind i, both modulo `options.classes`. A rating
/// is 3.5, the user's bias, the item's quality, 0.8 more where taste and kind are one, 0.3 less
/// where not, and noise; rounded, between 1 and 5. Few items have most ratings. In random order.
std::vector<SyntheticRating> synthetic_ratings(const data::SynthSize& options, int64_t items);

/// Writes u.data, u.user (a user's occupation follows the taste) and u.item (an item's genre
/// follows its kind) below `folder`. Throws Error(kData), and Error(kInterrupted) once `cancelled`
/// answers true.
void write_synthetic_ratings(const std::filesystem::path& folder, const data::SynthSize& options,
                             int64_t items, const std::function<bool()>& cancelled = {});

}  // namespace kdgat::ratings
