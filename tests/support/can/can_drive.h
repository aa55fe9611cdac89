// Made-up traffic of one vehicle, for tests of what reads frames.
#pragma once

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

}  // namespace kdgat::test
