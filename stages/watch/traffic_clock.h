// TrafficClock: how much traffic there was, in seconds, by a clock that may jump. A step back
// counts nothing, and a pause or a step ahead no more than data::kLongestPause.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/data/can/frames/bus_clock.h"
#include "engine/live/frame_queue.h"

namespace kdgat::watch {

class TrafficClock {
 public:
  /// `is_live`: the moments at which frames were received count, which no setting of the time of
  /// day moves. Else the log's own clock does, whatever the speed at which it is played again, or
  /// the moments for a log without times.
  explicit TrafficClock(bool is_live) : is_live_(is_live) {}

  void add(const live::LiveFrame& live) {
    const bool has_own = !is_live_ && !std::isnan(live.frame.time);
    const double time = has_own ? live.frame.time : static_cast<double>(live.received) * 1e-9;
    const double passed = has_own == had_own_ ? time - last_ : 0;
    had_own_ = has_own;
    if (passed > 0) seconds_ += std::min(passed, data::kLongestPause);
    last_ = time;
  }
  /// Of all that was added.
  double seconds() const { return seconds_; }

 private:
  bool is_live_;
  bool had_own_ = false;  ///< the last frame had a time of its own
  double last_ = std::numeric_limits<double>::quiet_NaN();
  double seconds_ = 0;
};

}  // namespace kdgat::watch
