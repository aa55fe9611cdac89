// What passes on a bus while a profile of it is learned; see engine/portable/bus.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "engine/data/can/frames/can_frame.h"
#include "engine/portable/bus.h"

namespace kdgat::data {

/// Seconds.
inline constexpr double kLongestPause = KDGAT_LONGEST_PAUSE;

/// Seconds from one time to the next, kLongestPause at most; 0 where there are no times, and where
/// the clock was put back.
inline double listened(double before, double now) {
  return now > before ? std::min(kLongestPause, now - before) : 0;
}

/// How busy each bus of a log is, and how long it was quiet: then its senders were asleep together
/// (ignition, a sleeping network, a recorder that missed a part), and the silence of one of them
/// says nothing. The usual rate is that of what was added so far.
class BusActivity {
 public:
  using Rates = std::array<double, kMostChannels>;  ///< frames a second

  BusActivity() { restart(); }
  /// No time reaches from one capture into the next.
  void restart();
  void add(uint8_t channel, double time);
  /// Seconds in which the bus was quiet, so far.
  double asleep(uint8_t channel) const { return buses_[channel].counted.asleep; }

 private:
  struct Bus {
    kdgat_bus counted{};
    double rate = 0, last = 0, seconds = 0;  // that it was listened to
  };
  std::array<Bus, kMostChannels> buses_;
};

}  // namespace kdgat::data
