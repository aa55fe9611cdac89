#include "engine/decision/detector/alarms.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::decision {
namespace {

/// P(X <= count) of a Poisson variable.
double poisson_cdf(int64_t count, double mean) {
  double sum = 0;
  for (int64_t k = 0; k <= count; ++k) {
    const auto n = static_cast<double>(k);
    sum += std::exp(n * std::log(mean) - mean - std::lgamma(n + 1));
  }
  return std::min(1.0, sum);
}

/// The mean at which P(X <= count) is `share`; it falls with the mean.
double mean_where(int64_t count, double share) {
  double low = 1e-12, high = static_cast<double>(count) + 10 * std::sqrt(count + 1.0) + 20;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (poisson_cdf(count, middle) > share ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

std::vector<float> alarm_peaks(std::span<const float> scores) {
  const auto windows = static_cast<int64_t>(scores.size());
  const auto score = [&](int64_t w) { return scores[static_cast<std::size_t>(w)]; };
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return score(a) > score(b); });
  std::vector<bool> taken(scores.size(), false);
  std::vector<float> peaks;
  for (const int64_t peak : order) {
    if (taken[static_cast<std::size_t>(peak)]) continue;
    peaks.push_back(score(peak));
    for (const int64_t step : {-1, 1}) {
      // As far as the last window within the deadband, and as many windows as are merged.
      int64_t since = 0;
      for (int64_t w = peak; w >= 0 && w < windows && since < kMergeWindows; w += step) {
        taken[static_cast<std::size_t>(w)] = true;
        since = score(w) > score(peak) - kDeadband ? 0 : since + 1;
      }
    }
  }
  return peaks;
}

int64_t count_events(std::span<const float> scores, double threshold) {
  const std::vector<float> peaks = alarm_peaks(scores);
  return std::count_if(peaks.begin(), peaks.end(), [&](float peak) { return peak > threshold; });
}

Budget budget_of(std::span<const Stretch> stretches, double per_hour, bool take_supported) {
  constexpr double kHour = 3600;
  Budget out;
  for (const Stretch& stretch : stretches) out.hours += stretch.seconds / kHour;
  if (!(out.hours > 0)) {
    throw Error(ExitCode::kData, "there is no benign traffic with times to choose a threshold by");
  }
  const double least = 1 / out.hours;
  out.per_hour = std::max(per_hour, least);
  if (per_hour > 0 && per_hour < least && !take_supported) {
    throw Error(ExitCode::kUsage,
                format_number("%.0f", kHour * out.hours) +
                    " s of benign validation traffic support no fewer than " +
                    format_number("%.0f", std::ceil(least)) + " false alarms an hour, not " +
                    format_number("%g", per_hour),
                "give more benign traffic, a larger false_alarms, or take_supported=true");
  }
  out.allowed = static_cast<int64_t>(out.per_hour * out.hours + 1e-9);
  return out;
}

double threshold_for(std::span<const Stretch> stretches, int64_t allowed) {
  std::vector<float> levels;
  for (const Stretch& stretch : stretches) {
    const std::vector<float> peaks = alarm_peaks(stretch.scores);
    levels.insert(levels.end(), peaks.begin(), peaks.end());
  }
  if (levels.empty()) throw Error(ExitCode::kData, "there is no benign window");
  std::sort(levels.begin(), levels.end(), std::greater<>());
  // Flagged is what lies above: the first peak that is too many.
  return levels[std::min(static_cast<std::size_t>(allowed), levels.size() - 1)];
}

Interval poisson_interval(int64_t count) {
  constexpr double kTail = 0.025;
  return {count == 0 ? 0 : mean_where(count - 1, 1 - kTail), mean_where(count, kTail)};
}

}  // namespace kdgat::decision
