// Named cases of traffic, made of drives (can_drive.h): two buses in one log, testers, sleep,
// J1939.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/windows/relative_windows.h"

namespace kdgat::test {

using Frames = std::vector<data::CanFrame>;

inline std::vector<data::RelativeWindow> windows_of(const data::VehicleProfile& profile,
                                                    const Frames& log, int64_t size = 100) {
  data::RelativeWindows windows(profile, size);
  std::vector<data::RelativeWindow> out;
  for (const data::CanFrame& frame : log) {
    if (windows.add(frame)) out.push_back(windows.window());
  }
  while (windows.finish()) out.push_back(windows.window());
  return out;
}

inline float at(const data::RelativeWindow& window, data::Relative column) {
  return window.x[static_cast<std::size_t>(column)];
}

/// Bits of surprise of the move from one payload to the next, over `length` bytes.
inline float surprise(const data::IdProfile& usual, const uint8_t* from, const uint8_t* to,
                      std::size_t length) {
  float moving = 0, still = 0;
  for (std::size_t i = 0; i < std::min(length, usual.bytes.size()); ++i) {
    if (from[i] == to[i]) continue;
    const int up = static_cast<uint8_t>(to[i] - from[i]);
    const auto move = static_cast<unsigned>(std::min(up, 256 - up));
    const float bits = usual.bytes[i].surprise(static_cast<int>(std::bit_width(move)));
    if (usual.bytes[i].surprise(1) > 4) {
      still = std::max(still, bits);
    } else {
      moving += bits;
    }
  }
  return moving + still;
}

/// Whether a byte moved that moves in less than one frame of eight.
inline bool rare_change(const data::IdProfile& usual, const uint8_t* from, const uint8_t* to,
                        std::size_t length) {
  for (std::size_t i = 0; i < std::min(length, usual.bytes.size()); ++i) {
    if (from[i] != to[i] && usual.bytes[i].surprise(1) > 3) return true;
  }
  return false;
}

/// Both, by time.
inline Frames merged(Frames a, const Frames& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::stable_sort(a.begin(), a.end(), [](const data::CanFrame& x, const data::CanFrame& y) {
    return x.time < y.time;
  });
  return a;
}

/// On another bus, begun when `beside` begins.
inline Frames on_channel(Frames log, uint8_t channel, const Frames& beside) {
  const double shift = beside.front().time - log.front().time;
  for (data::CanFrame& frame : log) {
    frame.channel = channel;
    frame.time += shift + 1e-5;
  }
  return log;
}

/// What a workshop tester and the control units say from second `begin` to `end`: a request of one
/// of five units, or all, the answer some milliseconds later, then a pause of any length.
/// `most_pause`: seconds.
inline Frames tester(const Frames& log, double begin, double end, double most_pause = 0.2) {
  arrays::Random random(31);
  Frames out;
  const double start = log.front().time;
  for (double time = start + begin; time < start + end;) {
    data::CanFrame frame;
    const auto unit = static_cast<uint32_t>(random.below(6));
    frame.id = unit == 5 ? 0x7DF : 0x7E0 + unit;
    frame.length = 8;
    frame.label = 0;
    for (int i = 0; i < 4; ++i) {
      frame.payload[static_cast<std::size_t>(i)] = static_cast<uint8_t>(random.below(256));
    }
    frame.time = time;
    out.push_back(frame);
    frame.id = unit == 5 ? 0x7E8 : 0x7E8 + unit;
    frame.payload[5] = static_cast<uint8_t>(random.below(256));
    time += 0.004 + 0.02 * random.uniform();
    frame.time = time;
    out.push_back(frame);
    time += most_pause * random.uniform();
  }
  return out;
}

/// The same frame so many times a second, labelled.
inline Frames flood(const Frames& log, uint32_t id, double begin, double end, double rate) {
  Frames out;
  for (double time = begin; time < end; time += 1 / rate) {
    data::CanFrame frame;
    frame.id = id;
    frame.extended = id > 0x7FF;
    frame.length = 8;
    frame.label = 1;
    frame.time = log.front().time + time;
    out.push_back(frame);
  }
  return out;
}

/// Everything from second `from` on comes so much later.
inline Frames delayed(Frames log, double from, double seconds) {
  const double start = log.front().time;
  for (data::CanFrame& frame : log) {
    if (frame.time - start >= from) frame.time += seconds;
  }
  return log;
}

/// Ids for which `stops` holds are silent from second `begin` to `end`.
inline Frames silenced(const Frames& log, double begin, double end,
                       const std::function<bool(uint32_t id)>& stops) {
  const double start = log.front().time;
  Frames out;
  bool missed = false;
  for (const data::CanFrame& frame : log) {
    const double time = frame.time - start;
    if (time >= begin && time < end && stops(frame.id)) {
      missed = true;
      continue;
    }
    out.push_back(frame);
    // As in the logs: the row after a missing one is labelled, where that is an attack.
    out.back().label = static_cast<int8_t>(missed ? 1 : frame.label);
    missed = false;
  }
  return out;
}

inline Frames unlabelled(Frames log) {
  for (data::CanFrame& frame : log) frame.label = 0;
  return log;
}

/// The ids of a log as those of a truck: PGNs of J1939, the first ones well-known, of four control
/// units, priority 6.
inline std::map<uint32_t, uint32_t> j1939_ids(const Frames& log) {
  constexpr uint32_t kPgns[] = {0xF004, 0xF003, 0xFEF1, 0xFECA, 0xFEEE};
  constexpr uint32_t kUnits[] = {0x00, 0x03, 0x0B, 0x31};
  std::set<uint32_t> ids;
  for (const data::CanFrame& frame : log) ids.insert(frame.id);
  std::map<uint32_t, uint32_t> out;
  uint32_t number = 0;
  for (const uint32_t id : ids) {
    const uint32_t pgn = number < 5 ? kPgns[number] : 0xFF00 + number;
    out[id] = 6U << 26 | pgn << 8 | kUnits[number % 4];
    ++number;
  }
  return out;
}

inline Frames with_ids(Frames log, const std::map<uint32_t, uint32_t>& ids) {
  for (data::CanFrame& frame : log) {
    const auto known = ids.find(frame.id);
    if (known != ids.end()) frame.id = known->second;
    frame.extended = frame.id > 0x7FF;
  }
  return log;
}

/// A claim of an address at second `at`.
inline data::CanFrame claim(const Frames& log, double at, uint8_t address, uint8_t name) {
  data::CanFrame out;
  out.time = log.front().time + at;
  out.id = 0x18EEFF00U | address;
  out.extended = true;
  out.label = 0;
  out.length = 8;
  out.payload[0] = name;
  out.payload[7] = 0x80;
  return out;
}

}  // namespace kdgat::test
