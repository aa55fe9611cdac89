// Alarms: windows whose score exceeds a threshold, those near one another as one event; and the
// threshold that follows from a budget of false ones. Knows no model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kdgat::decision {

/// Windows belong to one alarm that are fewer than so many apart, or between which the score stays
/// within the deadband below the alarm's peak, in log-odds: what goes on being odd is no new alarm.
inline constexpr int64_t kMergeWindows = 100;
inline constexpr double kDeadband = 2;

/// The peaks of the alarms of one stretch of windows, descending: taken from the highest score
/// down, each window that belongs to no alarm yet is the peak of another. So a lower threshold
/// never has fewer alarms.
std::vector<float> alarm_peaks(std::span<const float> scores);
/// Alarms at a threshold: peaks above it.
int64_t count_events(std::span<const float> scores, double threshold);

/// Windows of a stream that are one alarm.
struct Alarm {
  int64_t first = 0, last = 0;  ///< numbers of its first and last flagged window
  int64_t peak_window = 0;
  int64_t windows = 0;  ///< flagged
  float peak = 0;       ///< highest score
};

/// Alarms while windows stream. An alarm opens with the first window above the threshold and stays
/// open while windows are flagged or within the deadband below its highest score so far; after
/// kMergeWindows that are neither it is closed.
///
/// alarm_peaks() knows the whole stretch and begins at the highest score; it splits what goes on
/// above the threshold but far below a peak, which here is one alarm. So there are never more of
/// these than count_events() has, and a budget that was kept by those is kept by these.
class AlarmStream {
 public:
  enum class Change { kNone, kOpened, kClosed };

  /// Flagged is what scores above it. `deadband`: in units of the scores.
  explicit AlarmStream(double threshold, double deadband = kDeadband)
      : threshold_(threshold), deadband_(deadband) {}

  /// Of the next window: numbers go up by one.
  Change add(int64_t number, float score);
  /// The stream has ended.
  Change finish();
  bool is_open() const { return is_open_; }
  /// The open alarm, or the one that was closed last.
  const Alarm& alarm() const { return alarm_; }

 private:
  double threshold_, deadband_;
  bool is_open_ = false;
  int64_t lively_ = 0;  // the last window that kept it open
  Alarm alarm_;
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
