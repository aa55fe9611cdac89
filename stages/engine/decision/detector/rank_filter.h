// K of the last n: an alarm that one odd window does not raise. Knows no model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/portable/tails.h"

namespace kdgat::decision {

/// A window is flagged where at least k of the last n windows of its log, itself included, exceed
/// the threshold. 1 <= k <= n <= kMostOf.
struct KOfN {
  int64_t k = 1, n = 1;

  static constexpr int64_t kMostOf = 100;
  /// Each window stands for itself.
  bool is_single() const { return n == 1; }
  friend bool operator==(const KOfN&, const KOfN&) = default;
};

/// Scores of one log after another as the k-th largest of the last n: above any threshold exactly
/// where k of these n are. So whatever is chosen, counted or told by such scores agrees with the
/// rest. Of 1 of 1 each score is what it was. Holds n scores.
class RankFilter {
 public:
  /// `before`: what each window ahead of the first counts as.
  RankFilter(const KOfN& rule, double before)
      : k_(static_cast<uint32_t>(rule.k)), last_(static_cast<std::size_t>(rule.n), before) {}

  /// The next score; no NaN.
  double add(double score) {
    last_[at_] = score;
    at_ = (at_ + 1) % last_.size();
    return kdgat_kth(last_.data(), k_, static_cast<uint32_t>(last_.size()));
  }

 private:
  uint32_t k_;
  std::size_t at_ = 0;
  std::vector<double> last_;  // by number % n
};

}  // namespace kdgat::decision
