// Statistics over the seeds of a run: mean, spread, and the difference of two settings that were
// run with the same seeds. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace kdgat {

/// Where the distribution of Student with so many degrees of freedom has the share `p` below it.
/// 0 < p < 1 and freedom > 0; NaN otherwise.
double student_quantile(double p, double freedom);

struct Spread {
  std::size_t n = 0;
  double mean = 0;
  /// Standard deviation of the sample (divided by n - 1); none of fewer than two values.
  std::optional<double> deviation{};
};
/// nullopt of no values.
std::optional<Spread> spread_of(const std::vector<double>& values);

/// What a figure came to, by seed.
using BySeed = std::map<int64_t, double>;

/// The mean of the differences `other - base` over the seeds that both have.
struct PairedDifference {
  std::size_t n = 0;
  double mean = 0;
  /// Its 95 % interval by Student's t with n - 1 degrees of freedom; none of fewer than two seeds.
  std::optional<double> low{}, high{};

  /// Whether the interval leaves zero out.
  bool is_clear() const { return low && (*low > 0 || *high < 0); }
};
/// nullopt where they have no seed in common.
std::optional<PairedDifference> paired_difference(const BySeed& base, const BySeed& other);

}  // namespace kdgat
