// Alarms: windows whose score exceeds a threshold, those near one another as one event; and the
// threshold that follows from a budget of false ones. Knows no model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/portable/alarms.h"

namespace kdgat::decision {

/// Windows belong to one alarm that are fewer than so many apart, or between which the score stays
/// within the deadband below the alarm's peak, in log-odds: what goes on being odd is no new alarm.
inline constexpr int64_t kMergeWindows = KDGAT_MERGE_WINDOWS;
inline constexpr double kDeadband = 2;

/// The peaks of the alarms of one stretch of windows, descending: taken from the highest score
/// down, each window that belongs to no alarm yet is the peak of another. So a lower threshold
/// never has fewer alarms.
std::vector<float> alarm_peaks(std::span<const float> scores);
/// Alarms at a threshold: peaks above it.
int64_t count_events(std::span<const float> scores, double threshold);

/// Alarms while windows stream, see engine/portable/alarms.h.
///
/// alarm_peaks() knows the whole stretch and begins at the highest score; it splits what goes on
/// above the threshold but far below a peak, which here is one alarm. So there are never more of
/// these than count_events() has, and a budget that was kept by those is kept by these.
class AlarmStream {
 public:
  enum class Change { kNone, kOpened, kClosed };

  /// Flagged is what scores above it. `deadband`: in units of the scores.
  explicit AlarmStream(double threshold, double deadband = kDeadband) : rule_{threshold, deadband} {
    kdgat_alarms_init(&state_);
  }

  /// Of the next window: numbers go up by one.
  Change add(int64_t number, float score) {
    state_.windows = number;
    return change(kdgat_alarms_add(&state_, &rule_, score, 0, 0));
  }
  /// The stream has ended.
  Change finish() { return change(kdgat_alarms_finish(&state_)); }
  bool is_open() const { return state_.alarm.is_open != 0; }
  /// The open alarm, or the one that was closed last; without times.
  const kdgat_alarm& alarm() const { return state_.alarm; }

 private:
  static Change change(int bits) {
    return (bits & KDGAT_OPENED) != 0   ? Change::kOpened
           : (bits & KDGAT_CLOSED) != 0 ? Change::kClosed
                                        : Change::kNone;
  }

  kdgat_alarm_rule rule_;
  kdgat_alarms state_{};
};

/// Scores of benign windows of one log, one after another.
struct Stretch {
  std::vector<float> scores;
  double seconds = 0;
};

/// What a budget of false alarms allows in some benign traffic.
struct Budget {
  double hours = 0;     ///< of the benign traffic
  double per_hour = 0;  ///< false alarms
  int64_t allowed = 0;  ///< in these hours
};

/// Throws Error(kUsage) where the benign traffic supports no such budget: it allows less than one
/// alarm in all of it; unless `take_supported`, which then allows one, or `per_hour` is 0, which
/// asks for that. Throws Error(kData) without benign traffic.
Budget budget_of(std::span<const Stretch> stretches, double per_hour, bool take_supported);

/// The lowest threshold at which the stretches have no more than so many alarms; their highest peak
/// where that is 0. Throws Error(kData) without any window.
double threshold_for(std::span<const Stretch> stretches, int64_t allowed);

/// Of a Poisson count the interval that holds the mean with 95 % (Garwood 1936), exact.
struct Interval {
  double low = 0, high = 0;
};
Interval poisson_interval(int64_t count);

}  // namespace kdgat::decision
