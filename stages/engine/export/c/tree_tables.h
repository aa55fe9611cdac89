// Boosted trees as tables of C.
// Of engine/portable/trees.h, with the smallest types that hold their numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/export/c/number_tables.h"
#include "engine/trees/boosted_trees.h"

namespace kdgat::exporting {

struct TreeTables {
  std::string macros;  ///< that go with the tables
  int64_t depth = 0;   ///< splits that a row passes at most, of all trees
};

/// `units`: of each tree; its leaves are whole multiples of it, -127 to 127, and take a byte.
/// Empty: leaves are floats.
TreeTables add_trees(const trees::BoostedTrees& model, std::span<const float> units,
                     NumberTables& tables);

/// The same trees with such leaves: the nearest ones, of units that all leaves of a tree fit.
struct RoundedTrees {
  trees::BoostedTrees model;
  std::vector<float> units;
};
RoundedTrees rounded_trees(const trees::BoostedTrees& model);

}  // namespace kdgat::exporting
