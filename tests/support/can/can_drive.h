// Made-up traffic of one vehicle, for tests of what reads frames.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/can/synthetic/synth_logs.h"

namespace kdgat::test {

/// Some seconds of a vehicle on one of its days; `attack` as in add_attack(), empty = benign.
inline std::vector<data::CanFrame> drive(double seconds, int64_t day,
                                         const std::string& attack = "", int64_t vehicle = 0) {
  data::CanSynthOptions options;
  options.seconds = seconds;
  return data::synthesize(options, vehicle, attack, day);
}

struct Sent {
  uint32_t id;
  double period;
  double until = INFINITY;  // from then on it is silent..
  double again = INFINITY;  // ..until then
};

/// Each id on time, with a counter.
inline std::vector<data::CanFrame> bus_of(const std::vector<Sent>& ids, double seconds) {
  std::vector<data::CanFrame> out;
  for (const Sent& one : ids) {
    for (int k = 0; k * one.period < seconds; ++k) {
      data::CanFrame frame;
      frame.id = one.id;
      frame.time = k * one.period + 1e-5 * one.id;
      if (frame.time >= one.until && frame.time < one.again) continue;
      frame.length = 8;
      frame.label = 0;
      frame.payload[7] = static_cast<uint8_t>(k % 16);
      out.push_back(frame);
    }
  }
  std::sort(out.begin(), out.end(),
            [](const data::CanFrame& a, const data::CanFrame& b) { return a.time < b.time; });
  return out;
}

}  // namespace kdgat::test
