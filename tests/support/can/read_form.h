// Reading logs of forms with a reader of their own in tests: all that comes of a log, and frames of
// every kind to write.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/logs/can_log.h"

namespace kdgat::test {

using data::CanFrame;

struct ReadForm {
  std::string format, problems;
  std::vector<CanFrame> frames;
  int64_t malformed = 0;
};

inline ReadForm read_form(file::ByteReader bytes, const std::string& format = "auto") {
  data::CanLog log(std::move(bytes), format, false);
  ReadForm out;
  out.format = log.format();
  CanFrame frame;
  while (log.next(frame)) out.frames.push_back(frame);
  out.malformed = log.malformed();
  for (const Diagnostic& problem : log.problems()) out.problems += problem.text() + "\n";
  return out;
}
inline ReadForm read_form(const std::string& bytes) {
  return read_form(file::ByteReader("log", bytes));
}

/// Of two buses, with 11 and 29 bits, up to 8 and up to 64 bytes; times are whole 10 microseconds.
inline std::vector<CanFrame> form_frames(std::size_t count, bool with_remote = true,
                                         unsigned seed = 1) {
  constexpr std::array<uint8_t, 9> kLengths = {0, 1, 7, 8, 12, 20, 32, 48, 64};
  std::mt19937 random(seed);
  std::vector<CanFrame> out;
  int64_t time = 0;
  for (std::size_t i = 0; i < count; ++i) {
    CanFrame frame;
    time += 1 + random() % 300;
    frame.time = static_cast<double>(time) * 1e-5;
    frame.extended = random() % 3 == 0;
    frame.id = random() & (frame.extended ? 0x1fffffffU : 0x7ffU);
    frame.channel = static_cast<uint8_t>(random() % 2);
    frame.length = kLengths[random() % kLengths.size()];
    frame.fd = frame.length > 8 || random() % 4 == 0;
    if (with_remote && random() % 10 == 0) {
      frame.remote = true;
      frame.fd = false;
      frame.length = 0;
    }
    for (std::size_t b = 0; b < frame.length; ++b)
      frame.payload[b] = static_cast<uint8_t>(random());
    out.push_back(frame);
  }
  return out;
}

/// `start`: what the log adds to the times.
inline void check_same(const std::vector<CanFrame>& got, const std::vector<CanFrame>& wanted,
                       double start) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("frame " << i);
    const CanFrame &a = got[i], &b = wanted[i];
    REQUIRE(std::abs(a.time - start - b.time) < 1e-6);
    REQUIRE(a.key() == b.key());
    REQUIRE(a.extended == b.extended);
    REQUIRE(a.remote == b.remote);
    REQUIRE(a.fd == b.fd);
    REQUIRE(a.length == b.length);
    REQUIRE(a.payload == b.payload);
    REQUIRE(a.label == -1);
  }
}

inline std::vector<CanFrame> on_one_bus(std::vector<CanFrame> frames) {
  for (CanFrame& frame : frames) frame.channel = 0;
  return frames;
}

}  // namespace kdgat::test
