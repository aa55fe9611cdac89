// Frames of a computer whose time of day is set while they come.
#include "engine/live/clock_steps.h"

#include <catch2/catch.hpp>

namespace kdgat::live {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kIn2026 = 1'790'000'000 * kSecond;

TEST_CASE("a frame's moment never runs back, and is never ahead of now", "[clock_steps]") {
  const int64_t last = 100 * kSecond, now = 101 * kSecond;
  const int64_t behind = kIn2026 - now;  // the time of day is in 2026
  CHECK(receive_moment(kIn2026 - 5, now, behind, last) == now - 5);
  // Stamped in 1970, read after the clock was set: not long ago, but after the frame ahead of it.
  CHECK(receive_moment(3 * kSecond, now, behind, last) == last);
  // Stamped in 2026, read after the clock was set back.
  CHECK(receive_moment(kIn2026, now, 0, last) == now);
  CHECK(receive_moment(kIn2026, now, behind, now + 1) == now);
}

TEST_CASE("a step of the time of day is found in both directions", "[clock_steps]") {
  ClockSteps steps(1);
  const auto add = [&](double time, double received) {
    return steps.add(time, static_cast<int64_t>(received * 1e9));
  };
  CHECK_FALSE(add(10, 5));  // the first one
  CHECK_FALSE(add(11, 6));
  CHECK_FALSE(add(3611, 3606));  // an hour of silence is no step
  CHECK(add(1.7e9, 3607));
  CHECK_FALSE(add(1.7e9 + 1, 3608));
  CHECK(add(5000, 3609));
  CHECK_FALSE(add(5000.9, 3609.1));  // less than the least
}

}  // namespace
}  // namespace kdgat::live
