// Isolation forest (Liu, Ting and Zhou, ICDM 2008): what lies apart is soon alone when rows are
// parted at random. It learns from rows without labels; labels and weights of a table are ignored.
//
// A tree parts a sample of rows at random cuts of random columns until a row is alone, rows are
// equal, or ceil(log2(sample)) cuts are made. h(x) is the number of cuts on a row's way, and c(n)
// of them more where n rows are left together. Its score is
//   s(x) = 2^(-E[h(x)] / c(sample)),   c(n) = 2 H(n - 1) - 2 (n - 1) / n
// with the harmonic number H: c(n) is the mean of unsuccessful searches in a binary tree of n. Near
// 1 are outliers, below 0.5 are rows like any other.
//
// A column is drawn among those whose values in the node differ, the cut evenly between the least
// and the largest. Missing values go where more of the node's values went.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/trees/flat_trees.h"
#include "engine/trees/table.h"

namespace kdgat::trees {

struct IsolationForestOptions {
  int64_t trees = 100;
  int64_t sample =
      256;  ///< rows a tree is grown on, in [2, kMostLeaves]; or all if there are fewer
  int64_t seed = 0;
};

/// c(n); 0 for n < 2.
double mean_path_length(int64_t n);

class IsolationForest {
 public:
  /// Throws Error(kUsage) for options outside their ranges, Error(kData) for a table that
  /// check_table refuses or of a single row.
  static IsolationForest fit(const Table& table, const IsolationForestOptions& options);

  int64_t columns() const { return columns_; }
  int64_t trees() const { return trees_.trees(); }
  /// The trees; the value of a leaf is h, its cover n.
  const FlatTrees& forest() const { return trees_; }

  /// s, in (0, 1). Throws Error(kData) for another number of columns.
  double score(std::span<const float> row) const;
  std::vector<double> scores(const Table& table, int64_t threads = 1) const {
    return scores_of_rows(table, threads, [this](auto row) { return score(row); });
  }

 private:
  /// Sets the values of leaves.
  IsolationForest(int64_t columns, int64_t sample, FlatTrees trees);

  int64_t columns_, sample_;
  FlatTrees trees_;
};

}  // namespace kdgat::trees
