// Gradient boosting of decision trees for two classes: a reference that learns from a table of
// plain numbers. It does not know what its columns mean.
//
// The score of a row x is a sum of trees, F(x) = F0 + f1(x) + ... + fT(x), the log-odds of label 1
// (Friedman, Annals of Statistics 29(5), 2001); F0 is the log-odds of all rows. For the logistic
// loss, with p = 1 / (1 + exp(-F)) and a weight w of each row,
//   g = w (p - y),   h = w p (1 - p)
// are its derivatives by F. With G and H their sums over the rows of a leaf and the l2 penalty
// lambda, the leaf's value and the gain of a split are (Chen and Guestrin, XGBoost, KDD 2016)
//   v = -G / (H + lambda)
//   gain = 1/2 [G_L^2 / (H_L + lambda) + G_R^2 / (H_R + lambda) - G^2 / (H + lambda)]
// and a tree adds the learning rate times v. The leaf that gains most is split next (Ke et al.,
// LightGBM, NeurIPS 2017), at a cut between at most `bins` quantiles of a column. What is missing
// goes to the side where it gains more, as there; where none was missing, to that of more rows.
//
// A monotone column: of two rows that differ in it alone and lack it not, the one with the larger
// value never scores lower (+1) or never higher (-1). A split on it whose children's values are the
// wrong way round is not made, and half-way between them is a bound for all that grows below, so
// that it holds for the whole model. What is missing is not ordered.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "engine/trees/flat_trees.h"
#include "engine/trees/ranked_trees.h"
#include "engine/trees/table.h"

namespace kdgat::trees {

struct BoostedTreesOptions {
  int64_t trees = 200;
  double learning_rate = 0.1;  ///< in (0, 1]
  int64_t max_leaves = 31;     ///< of a tree, in [2, kMostLeaves]
  double l2 = 1;               ///< lambda, >= 0
  double min_hessian = 1e-3;   ///< of a leaf, > 0
  int64_t min_rows = 20;       ///< of a leaf, >= 1; rows whatever their weights are
  double min_gain = 0;         ///< >= 0; a split gains more than that
  int64_t bins = 255;          ///< of a column, in [2, 255]; what is missing has one more
  double row_fraction = 1;     ///< of the rows, drawn for each tree; in (0, 1]
  double column_fraction = 1;  ///< of the columns, drawn for each tree; in (0, 1]
  int64_t patience = 20;       ///< trees without a lower loss of the validation rows, >= 1
  std::vector<int> monotone;   ///< [columns] of +1, 0 and -1; empty: 0 each
  int64_t seed = 0;            ///< of the draws, all that is left to chance
  int64_t threads = 1;         ///< 0: as many as there are; the model is the same for any number
};

class BoostedTrees {
 public:
  /// Rows of weight 0 are as if they were not there. With validation rows training ends when so
  /// many trees have not lowered their mean loss, and the trees behind its minimum are dropped. A
  /// class without rows has the log-odds of one row in a million. Throws Error(kUsage) for options
  /// outside their ranges, Error(kData) for tables that check_table refuses or that differ in
  /// columns.
  static BoostedTrees fit(const Table& table, const BoostedTreesOptions& options,
                          const Table* validation = nullptr);

  int64_t columns() const { return columns_; }
  int64_t trees() const { return trees_.trees(); }
  const FlatTrees& forest() const { return trees_; }
  /// F0.
  double base() const { return ranked_.base; }
  const RankedTrees& ranked() const { return ranked_; }

  /// The log-odds F of a row, [columns]. Throws Error(kData) for another number of columns.
  double score(std::span<const float> row) const;
  /// Of each row of a table.
  std::vector<double> scores(const Table& table, int64_t threads = 1) const {
    return scores_of_rows(table, threads, [this](auto row) { return score(row); });
  }

  /// {"format": "kdgat.boosted_trees", "version": 1, "columns", "base": F0, "trees": see
  /// dump_trees}. Read again, the model gives the same bits.
  nlohmann::json to_json() const;
  /// Throws Error(kData) that says what is wrong.
  static BoostedTrees from_json(const nlohmann::json& in);

 private:
  BoostedTrees(int64_t columns, double base, FlatTrees trees);

  int64_t columns_;
  FlatTrees trees_;
  RankedTrees ranked_;  // the same, for scores
};

}  // namespace kdgat::trees
