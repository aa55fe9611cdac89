// The best split of one column by its histogram of gradients. It knows no tree and no row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace kdgat::trees {

/// First and second derivative of a row's loss by its score, as multiples of a unit. Whole numbers
/// add up to the same in every order, and a difference of two sums is exact: so a histogram that
/// was made by subtraction is the one that counting would have given.
struct Gradient {
  int64_t first = 0, second = 0;
};

struct Bin {
  int64_t first = 0, second = 0;
  int64_t rows = 0;

  void add(const Gradient& g) {
    first += g.first;
    second += g.second;
    ++rows;
  }
  friend Bin operator+(const Bin& a, const Bin& b) {
    return {a.first + b.first, a.second + b.second, a.rows + b.rows};
  }
  friend Bin operator-(const Bin& a, const Bin& b) {
    return {a.first - b.first, a.second - b.second, a.rows - b.rows};
  }
};

/// What a leaf may say, so that no split above it is turned round.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool any() const {
    return low > -std::numeric_limits<double>::infinity() ||
           high < std::numeric_limits<double>::infinity();
  }
};

struct SplitRules {
  double unit = 1;  ///< what a Gradient counts in
  double l2 = 0, min_hessian = 0, min_gain = 0;
  int64_t min_rows = 1;

  /// -G / (H + l2) within the bounds.
  double value(const Bin& sum, const Bounds& bounds) const;
  /// What a leaf takes off the loss to the second order: -(G w + (H + l2) w^2 / 2) for its value w;
  /// without bounds G^2 / (H + l2) / 2.
  double merit(const Bin& sum, const Bounds& bounds) const;
};

struct Split {
  double gain = 0;
  int64_t column = -1;  ///< -1: there is none
  int64_t bin = 0;      ///< the last on the left; that of the last value: what is missing is right
  bool missing_right = false;
  Bin left, right;

  bool found() const { return column >= 0; }
};

/// Puts into `best` what splits a leaf of these sums better, by `count` bins of values and the bin
/// of what is missing behind them. `sign` says which way the column's values must push: 1 up, -1
/// down, 0 either. Of equal gains the one found first stays.
void find_split(const Bin* bins, int64_t count, const Bin& sum, int64_t column, int sign,
                const Bounds& bounds, const SplitRules& rules, Split& best);

}  // namespace kdgat::trees
