#include "engine/trees/split_search.h"

#include <algorithm>

namespace kdgat::trees {

namespace {

/// Gains below this part of what the children take off are rounding.
constexpr double kRounding = 1e-12;

template <bool kBounded>
class SplitSearch {
 public:
  SplitSearch(const Bin& sum, int64_t column, int sign, const Bounds& bounds,
              const SplitRules& rules, Split& best)
      : sum_(sum),
        column_(column),
        sign_(sign),
        bounds_(bounds),
        rules_(rules),
        best_(best),
        merit_(rules.merit(sum, bounds)) {}

  void over(const Bin* bins, int64_t count) {
    const Bin missing = bins[count];
    const int64_t present = sum_.rows - missing.rows;
    Bin left;
    for (int64_t b = 0; b < count; ++b) {
      if (bins[b].rows == 0) continue;  // the rows are parted as by the bin before
      left = left + bins[b];
      if (left.rows == present) {
        // Values that never came here belong to those that did, not to what is missing.
        if (missing.rows > 0) consider(left, count - 1, true, 0);
        return;
      }
      if (sum_.rows - left.rows < rules_.min_rows) return;
      if (missing.rows == 0) {
        consider(left, b, 2 * left.rows < sum_.rows, sign_);
      } else {
        consider(left, b, true, sign_);
        consider(left + missing, b, false, sign_);
      }
    }
  }

 private:
  double merit(const Bin& sum) const {
    if constexpr (kBounded) {
      return rules_.merit(sum, bounds_);
    } else {
      const double g = static_cast<double>(sum.first) * rules_.unit;
      return 0.5 * g * g / (static_cast<double>(sum.second) * rules_.unit + rules_.l2);
    }
  }
  void consider(const Bin& left, int64_t bin, bool missing_right, int sign) {
    const Bin right = sum_ - left;
    if (left.rows < rules_.min_rows || right.rows < rules_.min_rows) return;
    if (static_cast<double>(left.second) * rules_.unit < rules_.min_hessian ||
        static_cast<double>(right.second) * rules_.unit < rules_.min_hessian) {
      return;
    }
    if constexpr (kBounded) {
      const double step = rules_.value(right, bounds_) - rules_.value(left, bounds_);
      if (sign * step < 0) return;
    }
    const double children = merit(left) + merit(right);
    const double gain = children - merit_;
    if (!(gain > best_.gain) || !(gain > rules_.min_gain + kRounding * children)) return;
    best_ = {gain, column_, bin, missing_right, left, right};
  }

  const Bin& sum_;
  int64_t column_;
  int sign_;
  const Bounds& bounds_;
  const SplitRules& rules_;
  Split& best_;
  double merit_;
};

}  // namespace

double SplitRules::value(const Bin& sum, const Bounds& bounds) const {
  const double curvature = static_cast<double>(sum.second) * unit + l2;
  if (curvature <= 0) return std::clamp(0.0, bounds.low, bounds.high);
  return std::clamp(-static_cast<double>(sum.first) * unit / curvature, bounds.low, bounds.high);
}

double SplitRules::merit(const Bin& sum, const Bounds& bounds) const {
  const double w = value(sum, bounds);
  const double g = static_cast<double>(sum.first) * unit;
  return -w * (g + 0.5 * (static_cast<double>(sum.second) * unit + l2) * w);
}

void find_split(const Bin* bins, int64_t count, const Bin& sum, int64_t column, int sign,
                const Bounds& bounds, const SplitRules& rules, Split& best) {
  if (sign != 0 || bounds.any()) {
    SplitSearch<true>(sum, column, sign, bounds, rules, best).over(bins, count);
  } else {
    SplitSearch<false>(sum, column, sign, bounds, rules, best).over(bins, count);
  }
}

}  // namespace kdgat::trees
