// Alarms: windows whose score exceeds a threshold, those near one another as one event; and the
// threshold that follows from a budget of false ones. Knows no model. No LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kdgat::detector {

/// Windows belong to one alarm that are fewer than so many apart, or between which the score stays
/// within the deadband below the alarm's peak, in log-odds: what goes on being odd is no new alarm.
inline constexpr int64_t kMergeWindows = 20;
inline constexpr double kDeadband = 2;

/// The peaks of the alarms of one stretch of windows, descending: taken from the highest score down,
/// each window that belongs to no alarm yet is the peak of another. So a lower threshold never has
/// fewer alarms.
std::vector<float> alarm_peaks(std::span<const float> scores);
/// Alarms at a threshold: peaks above it.
int64_t count_events(std::span<const float> scores, double threshold);

/// Scores of benign windows of one log, one after another.
struct Stretch {
  std::vector<float> scores;
  double seconds = 0;
};

/// What benign traffic supports.
struct Budget {
  double hours = 0;
  double per_hour = 0;   ///< false alarms an hour that the threshold stands for
  int64_t events = 0;    ///< of the benign windows above it
  double threshold = 0;  ///< flagged is what scores above it
};

/// The smallest budget that `hours` support: one false alarm in all of them.
double supported_per_hour(double hours);

/// The lowest threshold at which the stretches have no more alarms than `per_hour` allows in their
/// time. Throws Error(kUsage) where they support no such budget, unless
/// `take_supported`; Error(kData) without any benign window.
Budget choose_threshold(std::span<const Stretch> stretches, double per_hour, bool take_supported);

/// Of a Poisson count the interval that holds the mean with 95 % (Garwood 1936), exact.
struct Interval {
  double low = 0, high = 0;
};
Interval poisson_interval(int64_t count);

}  // namespace kdgat::detector
