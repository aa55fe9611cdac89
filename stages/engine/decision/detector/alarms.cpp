#include "engine/decision/detector/alarms.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>

#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::decision {
namespace {

constexpr double kHour = 3600;
constexpr double kMostUnderAlarm = 0.05;
constexpr double kRounding = 1e-9;  // of sums of seconds

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

void TimeUnderAlarm::add(double seconds, bool is_flagged) {
  if (is_flagged) {
    const double until = now_ + seconds + KDGAT_HELD;
    sum_ += until - std::max(now_, until_);
    until_ = until;
  }
  now_ += seconds;
}

double TimeUnderAlarm::seconds() const { return sum_ - std::max(0.0, until_ - now_); }

Flagged flagged_in(std::span<const Stretch> stretches, double threshold) {
  Flagged out;
  for (const Stretch& stretch : stretches) {
    const double seconds = stretch.seconds / static_cast<double>(stretch.scores.size());
    TimeUnderAlarm time;
    for (const float score : stretch.scores) {
      time.add(seconds, score > threshold);
      out.windows += score > threshold ? 1 : 0;
    }
    out.under_alarm += time.seconds();
  }
  return out;
}

Flagged allowed_in(std::span<const Stretch> stretches, double per_hour) {
  double seconds = 0, longest = 0;
  for (const Stretch& stretch : stretches) {
    seconds += stretch.seconds;
    if (stretch.scores.empty()) continue;
    longest = std::max(longest, stretch.seconds / static_cast<double>(stretch.scores.size()));
  }
  return {static_cast<int64_t>(per_hour * seconds / kHour + 1e-9),
          std::max(kMostUnderAlarm * seconds, longest + KDGAT_HELD + kRounding)};
}

Budget budget_of(std::span<const Stretch> stretches, double per_hour, bool take_supported) {
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
                    format_number("%.0f", std::ceil(least)) + " false windows an hour, not " +
                    format_number("%g", per_hour),
                "give more benign traffic, a larger false_alarms, or take_supported=true");
  }
  out.allowed = allowed_in(stretches, out.per_hour);
  return out;
}

double threshold_for(std::span<const Stretch> stretches, const Flagged& allowed) {
  std::vector<float> levels;
  for (const Stretch& stretch : stretches) {
    levels.insert(levels.end(), stretch.scores.begin(), stretch.scores.end());
  }
  if (levels.empty()) throw Error(ExitCode::kData, "there is no benign window");
  std::sort(levels.begin(), levels.end(), std::greater<>());
  const auto most = std::min(static_cast<std::size_t>(allowed.windows), levels.size() - 1);
  // Flagged is what lies above: so a level allows as many windows as there are higher ones, and the
  // lower it is, the longer they are under alarm.
  const auto end = levels.begin() + static_cast<std::ptrdiff_t>(most) + 1;
  const auto too_long = std::partition_point(levels.begin(), end, [&](float level) {
    return flagged_in(stretches, level).under_alarm <= allowed.under_alarm;
  });
  return too_long == levels.begin() ? levels.front() : *std::prev(too_long);
}

Interval poisson_interval(int64_t count) {
  constexpr double kTail = 0.025;
  return {count == 0 ? 0 : mean_where(count - 1, 1 - kTail), mean_where(count, kTail)};
}

}  // namespace kdgat::decision
