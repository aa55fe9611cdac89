#include "engine/data/can/frames/bus_slots.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kdgat::data {
namespace {

/// Rounded up; a bus of any speed needs a microsecond, which is what logs can tell apart.
int64_t bits_us(int64_t bits, int64_t bitrate) {
  return std::max<int64_t>(1, (bits * 1'000'000 + bitrate - 1) / bitrate);
}

constexpr int64_t kBitsBetweenFrames = 3;

}  // namespace

int64_t microseconds(double seconds) { return std::llround(seconds * 1e6); }

int64_t bus_time_us(const CanFrame& frame, int64_t bitrate) {
  const int64_t payload = int64_t{10} * frame.length;
  // FD frames send their payload several times as fast.
  return bits_us(47 + (frame.extended ? 20 : 0) + (frame.fd ? payload / 4 : payload), bitrate);
}

BusSlots::BusSlots(std::span<const CanFrame> recorded, int64_t bitrate)
    : bitrate_(bitrate),
      gap_us_(bits_us(kBitsBetweenFrames, bitrate)),
      free_us_(std::numeric_limits<int64_t>::min()) {
  taken_.reserve(recorded.size());
  for (const CanFrame& frame : recorded) {
    const int64_t end = microseconds(frame.time);
    taken_.push_back({end - bus_time_us(frame, bitrate), end});
  }
  // Published logs step back by some milliseconds here and there.
  std::stable_sort(taken_.begin(), taken_.end(),
                   [](const Taken& a, const Taken& b) { return a.end_us < b.end_us; });
}

int64_t BusSlots::take(const CanFrame& frame, int64_t ready_us, int64_t limit_us) {
  const int64_t length = bus_time_us(frame, bitrate_);
  int64_t begin = std::max(ready_us, free_us_);
  if (begin + length > limit_us) return -1;  // before what is past is forgotten
  while (next_ < taken_.size() && taken_[next_].end_us + gap_us_ <= begin) ++next_;
  std::size_t at = next_;
  while (at < taken_.size() && taken_[at].begin_us < begin + length + gap_us_) {
    begin = std::max(begin, taken_[at].end_us + gap_us_);
    if (begin + length > limit_us) return -1;
    ++at;
  }
  if (begin + length > limit_us) return -1;
  next_ = at;
  free_us_ = begin + length + gap_us_;
  return begin + length;
}

}  // namespace kdgat::data
