// BusSlots: when a bus that carries recorded frames has time for others. Owns the times at which it
// is taken. Knows nothing about attacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::data {

/// Microseconds since the time that a log counts from. Doubles hold them exactly for the next two
/// centuries, and logs are written with six decimals.
int64_t microseconds(double seconds);

/// How long a frame takes, with about one stuff bit in four.
int64_t bus_time_us(const CanFrame& frame, int64_t bitrate);

class BusSlots {
 public:
  /// The recorded frames, each with the time of its end, in any order.
  BusSlots(std::span<const CanFrame> recorded, int64_t bitrate);

  /// Takes the first free time in which `frame`, ready at `ready_us`, can be sent whole, and
  /// returns its end; -1, and nothing is taken, if that is after `limit_us`. Calls come with rising
  /// `ready_us`: what waits is sent in the order in which it became ready. No two frames end at the
  /// same microsecond.
  int64_t take(const CanFrame& frame, int64_t ready_us, int64_t limit_us);

 private:
  struct Taken {
    int64_t begin_us, end_us;
  };
  std::vector<Taken> taken_;  // by end
  std::size_t next_ = 0;      // what ended before it is past
  int64_t bitrate_;
  int64_t gap_us_;   // between two frames
  int64_t free_us_;  // the last frame sent has ended
};

}  // namespace kdgat::data
