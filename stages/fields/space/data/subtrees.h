// Samples of a large tree: the subtrees below some of its branch points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/arrays/random.h"

namespace kdgat::space {

/// Nodes with several children, ascending, by the size of the subtree below them.
struct BranchPoints {
  std::vector<int32_t> fitting;  ///< between the two sizes
  std::vector<int32_t> larger;
  int64_t size() const { return static_cast<int64_t>(fitting.size() + larger.size()); }
};
BranchPoints branch_points(std::span<const int32_t> parent, int64_t min_nodes, int64_t max_nodes);

/// How many of `available` to take of each, `wanted` in all or as many as there are, as evenly as
/// that allows.
std::vector<int64_t> even_shares(const std::vector<int64_t>& available, int64_t wanted);

/// `count` of the points, ascending; those that fit before larger ones.
std::vector<int32_t> choose(BranchPoints points, int64_t count, arrays::Random& random);

/// The subtree of `root`, ascending; of a larger one the `max_nodes` that are first breadth first,
/// children in ascending order.
std::vector<int32_t> subtree(std::span<const int32_t> parent, int32_t root, int64_t max_nodes);

}  // namespace kdgat::space
