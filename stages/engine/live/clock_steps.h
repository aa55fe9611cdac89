// Clocks that are set while frames come: what still counts then. Pure arithmetic: reads no clock.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kdgat::live {

/// When a frame was received, on the monotonic clock. `stamp`: the kernel's, of the time of day;
/// `behind`: how far the monotonic clock was behind the time of day at `now`, when the frame was
/// read. The time of day may have been set in between: so it is never before `last`, when the frame
/// ahead of it was received, nor after `now`.
inline int64_t receive_moment(int64_t stamp, int64_t now, int64_t behind, int64_t last) {
  return std::clamp(stamp - behind, std::min(last, now), now);
}

/// Finds the frames between which the time of day was set: no gap can be measured across them.
class ClockSteps {
 public:
  /// `least`: smaller steps are none, seconds.
  explicit ClockSteps(double least) : least_(least) {}

  /// `time`: of the time of day, seconds; `received`: the same moment of the monotonic clock,
  /// nanoseconds. Whether the first ran ahead of the second, or back, since the frame before.
  bool add(double time, int64_t received) {
    const double ahead = time - static_cast<double>(received) * 1e-9;
    const bool is_step = std::abs(ahead - ahead_) >= least_;  // false of the first one
    ahead_ = ahead;
    return is_step;
  }

 private:
  double least_;
  double ahead_ = NAN;
};

}  // namespace kdgat::live
