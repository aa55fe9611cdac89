// Alarms: windows whose score exceeds a threshold, those near one another as one event; and the
// threshold that follows from a budget of windows flagged falsely. Knows no model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/portable/alarms.h"

namespace kdgat::decision {

/// Alarms while windows stream, see engine/portable/alarms.h.
class AlarmStream {
 public:
  enum class Change { kNone, kOpened, kClosed };

  /// Flagged is what scores above it.
  explicit AlarmStream(double threshold) : threshold_(threshold) { kdgat_alarms_init(&state_); }

  /// Of the next window: numbers go up by one. `begin` and `end`: of its first and its last frame,
  /// seconds; NaN where there are no times.
  Change add(int64_t number, float score, double begin, double end) {
    state_.windows = number;
    return change(kdgat_alarms_add(&state_, threshold_, score, begin, end));
  }
  /// The stream has ended.
  Change finish() { return change(kdgat_alarms_finish(&state_)); }
  bool is_open() const { return state_.alarm.is_open != 0; }
  /// The open alarm, or the one that was closed last.
  const kdgat_alarm& alarm() const { return state_.alarm; }

 private:
  static Change change(int bits) {
    return (bits & KDGAT_OPENED) != 0   ? Change::kOpened
           : (bits & KDGAT_CLOSED) != 0 ? Change::kClosed
                                        : Change::kNone;
  }

  double threshold_;
  kdgat_alarms state_{};
};

/// How long flagged windows of one log keep it under alarm: each for itself and KDGAT_HELD more.
class TimeUnderAlarm {
 public:
  /// The next window, which took so many seconds.
  void add(double seconds, bool is_flagged);
  double seconds() const;

 private:
  double now_ = 0, until_ = 0, sum_ = 0;
};

/// Scores of benign windows of one log, one after another.
struct Stretch {
  std::vector<float> scores;
  double seconds = 0;
};

/// Flagged windows, and how long they keep their logs under alarm, in seconds of the traffic.
struct Flagged {
  int64_t windows = 0;
  double under_alarm = 0;
};
/// Of the scores above a threshold.
Flagged flagged_in(std::span<const Stretch> stretches, double threshold);

/// What a budget of false windows allows in some benign traffic.
struct Budget {
  double hours = 0;     ///< of the benign traffic
  double per_hour = 0;  ///< false windows
  Flagged allowed;      ///< in these hours
};

/// As many windows as `per_hour` says, rounded down, that keep the traffic under alarm for no more
/// than a twentieth of its time; one window is never too long.
Flagged allowed_in(std::span<const Stretch> stretches, double per_hour);

/// Throws Error(kUsage) where the benign traffic supports no such budget: it allows less than one
/// window in all of it; unless `take_supported`, which then allows one, or `per_hour` is 0, which
/// asks for that. Throws Error(kData) without benign traffic.
Budget budget_of(std::span<const Stretch> stretches, double per_hour, bool take_supported);

/// The lowest threshold at which the stretches have no more flagged windows, and are no longer
/// under alarm, than allowed; their highest score where nothing is. Throws Error(kData) without any
/// window.
double threshold_for(std::span<const Stretch> stretches, const Flagged& allowed);

/// Of a Poisson count the interval that holds the mean with 95 % (Garwood 1936), exact.
struct Interval {
  double low = 0, high = 0;
};
Interval poisson_interval(int64_t count);

}  // namespace kdgat::decision
