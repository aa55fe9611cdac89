// Boosted trees as the tables that engine/portable/trees.h reads: in the program, and printed into
// an exported detector.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/portable/trees.h"
#include "engine/trees/flat_trees.h"

namespace kdgat::trees {

class RankedTrees {
 public:
  RankedTrees(const FlatTrees& trees, int64_t columns, double base);

  /// Of a row, [columns].
  double score(std::span<const float> row) const;
  /// Splits that a row passes at most, of all trees.
  int64_t depth() const { return depth_; }

  // Each as in kdgat_trees.
  std::vector<float> thresholds;
  std::vector<uint32_t> column_begin, tree_begin;
  std::vector<kdgat_split> splits;
  std::vector<float> leaves;
  double base = 0;

  int64_t trees() const { return static_cast<int64_t>(tree_begin.size()) - 1; }

 private:
  void rank_thresholds(const FlatTrees& trees);
  void add_tree(std::span<const TreeNode> nodes, int32_t root);

  int64_t depth_ = 0;
};

}  // namespace kdgat::trees
