// What passes on a bus while a sender is silent, and clocks that are put back.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::data {

/// Of a pause that is longer, no more counts as listened to: seconds.
inline constexpr double kLongestPause = 1;

/// The latest time of a capture. Single frames that step back are the work of a recorder or of a
/// merge: the clock stands still for them. Where several in a row lie well behind it, it was put
/// back, and goes on from there.
class LogClock {
 public:
  /// `follows`: a clock that is put back is followed.
  explicit LogClock(bool follows = true) : follows_(follows) {}

  void restart() { *this = LogClock(follows_); }
  /// Seconds; NaN where the form has none. True if the clock was put back: nothing that came before
  /// can be compared with what follows.
  bool read(double time);
  double now() const { return now_; }
  /// Seconds since the frame before, kLongestPause at most; 0 where there are no times.
  double passed() const { return passed_; }

 private:
  double now_ = std::numeric_limits<double>::quiet_NaN(), passed_ = 0;
  int behind_ = 0;  // frames in a row
  bool follows_;
};

/// How busy each bus of a log is, and how long it was quiet: then its senders were asleep together
/// (ignition, a sleeping network, a recorder that missed a part), and the silence of one of them
/// says nothing. A bus is quiet while it carries less than half of its usual frames.
class BusActivity {
 public:
  using Rates = std::array<double, kMostChannels>;

  /// Rates follow from what is added.
  BusActivity() = default;
  /// `rates`: usual frames a second.
  explicit BusActivity(const Rates& rates);

  /// No time reaches from one capture into the next.
  void restart();
  void add(uint8_t channel, double time);
  int64_t frames(uint8_t channel) const { return buses_[channel].frames; }
  /// Seconds in which the bus was quiet, so far.
  double asleep(uint8_t channel) const { return buses_[channel].asleep; }
  /// Whether it was quiet in these last seconds, at the begin of which it had carried `before`
  /// frames. False where too few are usual to tell.
  bool quiet(uint8_t channel, int64_t before, double seconds) const;

 private:
  static constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

  struct Bus {
    int64_t frames = 0;
    double rate = 0;
    double last = kNoTime, seconds = 0;  // that it was listened to
    double asleep = 0;
    double begin = kNoTime;  // of the stretch that is counted
    int64_t in_stretch = 0;
    double awake = 0;        // seconds of the stretch before, where it was not quiet
    bool was_quiet = false;  // that stretch
  };
  std::array<Bus, kMostChannels> buses_;
  bool learns_ = true;
};

/// Whether so much sleep lies between two frames of a sender that the second one is a beginning.
inline bool was_asleep(double seconds) {
  constexpr double kLeast = 0.5;  // shorter pauses are jitter of buses that send in bursts
  return seconds >= kLeast;
}

}  // namespace kdgat::data
