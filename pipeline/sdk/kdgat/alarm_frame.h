// The eight bytes that an alarm has on a CAN bus (kdgat watch --alarm can:..), big endian:
//
//   0-1  number of the alarm, modulo 65536
//   2    1 in the upper half, the form of these bytes; below it 1 = open, 0 = over
//   3-4  highest score so far, in 1/256, 65535 at most
//   5    flagged windows so far, 255 at most
//   6    ids that made it, 255 at most
//   7    events held back by the rate since the frame before, 255 at most
//
// Whoever sends them and whoever knows them again both ask this.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kdgat/event.h"

namespace kdgat {

using AlarmBytes = std::array<uint8_t, 8>;

/// Which of them counts the events that were held back.
inline constexpr std::size_t kSuppressedByte = 7;

inline AlarmBytes alarm_bytes(const AlarmEvent& alarm, int64_t suppressed) {
  constexpr uint8_t kForm = 0x10;
  constexpr float kParts = 256, kMost = 65535;
  const auto one_byte = [](int64_t count) {
    return static_cast<uint8_t>(std::clamp<int64_t>(count, 0, 255));
  };
  const auto number = static_cast<uint16_t>(alarm.alarm);
  // A score that is no number counts as the highest.
  const float parts =
      std::isnan(alarm.peak) ? kMost : std::clamp(std::round(alarm.peak * kParts), 0.0F, kMost);
  const auto score = static_cast<uint16_t>(parts);
  return {static_cast<uint8_t>(number >> 8),
          static_cast<uint8_t>(number & 0xFF),
          static_cast<uint8_t>(kForm | (alarm.open ? 1 : 0)),
          static_cast<uint8_t>(score >> 8),
          static_cast<uint8_t>(score & 0xFF),
          one_byte(alarm.windows),
          one_byte(static_cast<int64_t>(alarm.ids.size())),
          one_byte(suppressed)};
}

}  // namespace kdgat
