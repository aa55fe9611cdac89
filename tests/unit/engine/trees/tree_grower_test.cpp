#include "engine/trees/tree_grower.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/trees/bins.h"

namespace kdgat::trees {
namespace {

TEST_CASE("rows that a tree does not learn from end in the leaf that it gives them", "[trees]") {
  // Few distinct values, so that many are equal to a threshold; some missing, some infinite.
  constexpr int64_t kRows = 600, kColumns = 3;
  const float missing = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  arrays::Random random(7);
  std::vector<float> values;
  const std::vector<int64_t> labels(kRows, 0);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    const uint64_t which = random.below(12);
    values.push_back(which == 0   ? missing
                     : which == 1 ? infinite
                     : which == 2 ? -infinite
                                  : static_cast<float>(which) / 4);
  }
  const Table table{values, kColumns, labels, {}};
  const BinnedTable binned(table, BinnedTable::kMostBins, 1);
  TreeGrower grower(binned, {1, 1, 1e-3, 0, 1}, {}, 12, 0.1, 1);
  std::vector<int32_t> rows, others;
  std::vector<Gradient> gradients;
  for (int32_t row = 0; row < kRows; ++row) {
    if (row % 3 == 0) {
      others.push_back(row);
      continue;
    }
    rows.push_back(row);
    gradients.push_back({static_cast<int64_t>(random.below(200)) - 100, 50});
  }
  const std::size_t count = others.size();
  const std::vector<int32_t> columns{0, 1, 2};
  const GrownTree tree = grower.grow(rows, gradients, others, columns);
  REQUIRE(tree.leaves.size() == 12);
  REQUIRE(others.size() == count);
  const auto leaf_of = [&](int32_t row) {
    std::size_t node = 0;
    while (!tree.nodes[node].is_leaf()) {
      const TreeNode& split = tree.nodes[node];
      node = static_cast<std::size_t>(
          split.child(table.row(row)[static_cast<std::size_t>(split.column)]));
    }
    return node;
  };
  std::vector<char> seen(kRows, 0);
  for (const GrownLeaf& leaf : tree.leaves) {
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      CHECK(leaf_of(rows[i]) == leaf.node);
      seen[static_cast<std::size_t>(rows[i])] = 1;
    }
    for (std::size_t i = leaf.others_begin; i < leaf.others_end; ++i) {
      CHECK(leaf_of(others[i]) == leaf.node);
      seen[static_cast<std::size_t>(others[i])] = 1;
    }
  }
  CHECK(std::accumulate(seen.begin(), seen.end(), 0) == kRows);
}

}  // namespace
}  // namespace kdgat::trees
