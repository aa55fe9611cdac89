#include "pipeline/run/seed_statistics.h"

#include <cmath>
#include <limits>

namespace kdgat {
namespace {

/// The regularised incomplete beta function I_x(a, b) by Lentz's continued fraction, which
/// converges quickly for x < (a + 1) / (a + b + 2); else it is that of 1 - x.
double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(1 - x, b, a);
  constexpr double kTiny = 1e-300, kClose = 1e-16;
  constexpr int kMost = 1000;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x)) /
                       a;
  const auto safe = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / safe(1 - (a + b) * x / (a + 1)), out = d;
  for (int i = 1; i < kMost; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / safe(1 + even * d);
    c = safe(1 + even / c);
    out *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / safe(1 + odd * d);
    c = safe(1 + odd / c);
    out *= d * c;
    if (std::abs(d * c - 1) < kClose) break;
  }
  return front * out;
}

/// The share of the distribution above t >= 0.
double share_above(double t, double freedom) {
  return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
}

}  // namespace

double student_quantile(double p, double freedom) {
  if (!(p > 0 && p < 1 && freedom > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0.5) return 0;
  if (p < 0.5) return -student_quantile(1 - p, freedom);
  double low = 0, high = 1;
  while (share_above(high, freedom) > 1 - p && high < 1e150) high *= 2;
  // By halves until two neighbouring numbers are left.
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (share_above(middle, freedom) > 1 - p ? low : high) = middle;
  }
}

std::optional<Spread> spread_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  Spread out;
  double squares = 0;  // of the distances from the mean so far (Welford)
  for (const double value : values) {
    ++out.n;
    const double before = value - out.mean;
    out.mean += before / static_cast<double>(out.n);
    squares += before * (value - out.mean);
  }
  if (out.n > 1) out.deviation = std::sqrt(squares / static_cast<double>(out.n - 1));
  return out;
}

std::optional<PairedDifference> paired_difference(const BySeed& base, const BySeed& other) {
  std::vector<double> differences;
  for (const auto& [seed, value] : other) {
    if (const auto found = base.find(seed); found != base.end()) {
      differences.push_back(value - found->second);
    }
  }
  const std::optional<Spread> spread = spread_of(differences);
  if (!spread) return std::nullopt;
  PairedDifference out{spread->n, spread->mean};
  if (spread->deviation) {
    constexpr double kUpper = 0.975;  // 95 % lie between this and what is as far below
    const auto n = static_cast<double>(spread->n);
    const double half = student_quantile(kUpper, n - 1) * *spread->deviation / std::sqrt(n);
    out.low = spread->mean - half;
    out.high = spread->mean + half;
  }
  return out;
}

}  // namespace kdgat
