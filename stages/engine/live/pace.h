// Pace: at which moment a frame of a log is due when the log is played again. Pure arithmetic:
// reads no clock and does not wait.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kdgat::live {

class Pace {
 public:
  /// `speed`: seconds of the log in one of ours, above 0 and finite.
  explicit Pace(double speed) : speed_(speed) {}

  /// The moment, in nanoseconds of the clock that `now` is of, at which the frame of this time in
  /// the log (seconds) is due. Gaps count from the first frame on, so that lateness does not add
  /// up; the count begins anew, at `now`, with a frame that `restarts` and where time falls by
  /// kLeastFall or more. One without a time (NaN) is due with the one ahead of it.
  int64_t due(double time, bool restarts, int64_t now) {
    if (std::isnan(time)) return std::isnan(last_) ? now : due_;
    // Negated: without a time ahead of it the count begins as well.
    if (restarts || !(last_ - time < kLeastFall)) {
      begin_ = time;
      due_ = begin_due_ = now;
    } else {
      const double gap = std::clamp((time - begin_) / speed_, 0.0, kMostGap);
      due_ = begin_due_ + std::llround(gap * 1e9);
    }
    last_ = time;
    return due_;
  }

  /// Published logs step back by less, where captures of two clocks were merged.
  static constexpr double kLeastFall = 0.008;

 private:
  static constexpr double kMostGap = 1e9;  // seconds: as good as for ever, and no overflow

  double speed_;
  double begin_ = 0;       // of the log
  double last_ = NAN;      // the same
  int64_t begin_due_ = 0;  // when begin_ was due
  int64_t due_ = 0;
};

}  // namespace kdgat::live
