// Tails: how far a window lies beyond benign ones in some columns, whatever attacks do to others:
// the one-class part of a detector. Learned from benign windows alone.
//
// With n benign values of a column, of which k are at least x, P(X >= x) is (k + 1) / (n + 1).
// Above u, the 99th of 100, it is P(X >= u) exp(-(x - u) / m) with m the mean excess over u: a
// generalised Pareto tail of shape 0 (Pickands, Ann. Statist. 3, 1975), the one that small samples
// allow.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/portable/tails.h"

namespace kdgat::decision {

class Tails {
 public:
  /// `values`: [rows, width] of benign windows, any number of rows; `columns`: those that are
  /// looked at, below `width`.
  static Tails fit(std::span<const float> values, std::size_t width,
                   std::span<const std::size_t> columns);

  /// -log10 of the smallest probability of a value of the row, times the number of columns
  /// (Bonferroni); at least 0.
  double score(std::span<const float> row) const {
    const kdgat_tails tails = view();
    return kdgat_tails_score(&tails, row.data());
  }

  nlohmann::json json() const;
  /// Throws Error(kData) naming `file` unless every number is in its range; `width` as in fit().
  static Tails from_json(const nlohmann::json& json, std::size_t width, const std::string& file);

  /// What score() reads; points into this.
  kdgat_tails view() const;
  // Each as in kdgat_tails.
  const std::vector<kdgat_tail>& tails() const { return tails_; }
  const std::vector<float>& values() const { return values_; }
  const std::vector<double>& rare() const { return rare_; }

 private:
  /// One more column: its values ascending, how rare each is, and the mean excess above the last.
  void add(std::size_t place, std::span<const float> values, std::span<const double> rare,
           double excess);

  std::vector<kdgat_tail> tails_;
  std::vector<float> values_;
  std::vector<double> rare_;
};

}  // namespace kdgat::decision
