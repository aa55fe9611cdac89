// One regression tree of gradients, grown leaf by leaf over binned columns. It knows no loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/trees/bins.h"
#include "engine/trees/flat_trees.h"
#include "engine/trees/split_search.h"

namespace kdgat::trees {

struct GrownLeaf {
  std::size_t node;                      ///< of GrownTree::nodes
  std::size_t begin, end;                ///< of the rows as growing has ordered them
  std::size_t others_begin, others_end;  ///< of the others, likewise
};

struct GrownTree {
  std::vector<TreeNode> nodes;  ///< the root first; children behind their parent
  std::vector<GrownLeaf> leaves;
};

/// Splits the leaf that gains most until `max_leaves` are reached or none gains anything. Of a
/// split the rows of the smaller child are counted; the histogram of the larger one is what they
/// leave.
class TreeGrower {
 public:
  /// `signs`: of each column, see find_split. Columns are divided among threads, each as a whole,
  /// so that nothing depends on their number.
  TreeGrower(const BinnedTable& table, const SplitRules& rules, std::span<const int> signs,
             int64_t max_leaves, double learning_rate, int threads);

  /// By the given columns alone. Orders the rows, and the gradients along with them, by leaf; rows
  /// of a leaf stay in their order. Values of leaves are times the learning rate. `others`: rows
  /// that the tree does not learn from; they are ordered in the same way.
  GrownTree grow(std::vector<int32_t>& rows, std::vector<Gradient>& gradients,
                 std::vector<int32_t>& others, std::span<const int32_t> columns);

 private:
  using Histogram = std::vector<Bin>;
  struct Leaf {
    std::size_t node, begin, end;
    std::size_t others_begin, others_end;
    Bin sum;
    Bounds bounds;
    Split split;
    std::size_t histogram;  ///< of histograms_

    std::size_t size() const { return end - begin; }
  };

  bool may_split(const Leaf& leaf) const;
  void count(Histogram& histogram, const Leaf& leaf, int64_t column) const;
  /// Finds the split of a leaf by counting its rows, and that of the rest of its parent, if any,
  /// whose histogram is still that of both.
  void search(Leaf& counted, Leaf* rest, std::span<const int32_t> columns);
  /// Puts the rows of the leaf's right child behind those of the left; where it begins, and where
  /// among the others.
  std::pair<std::size_t, std::size_t> part(const Leaf& leaf);
  int threads_for(std::size_t rows, std::size_t columns) const;

  const BinnedTable& table_;
  SplitRules rules_;
  std::vector<int> signs_;
  int64_t max_leaves_;
  double learning_rate_;
  int threads_;
  std::vector<std::size_t> first_bin_;  ///< of each column in a histogram
  std::vector<Histogram> histograms_;
  std::vector<int32_t>* rows_ = nullptr;
  std::vector<Gradient>* gradients_ = nullptr;
  std::vector<int32_t>* others_ = nullptr;
  std::vector<int32_t> moved_rows_;
  std::vector<Gradient> moved_gradients_;
};

}  // namespace kdgat::trees
