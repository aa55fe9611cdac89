// Which frames come earlier than their id is due.
#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/data/can/windows/relative_windows.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"

namespace kdgat::data {
namespace {

using test::at;
using test::bus_of;
using test::windows_of;

TEST_CASE("a copy next to a true frame is early, whatever the true one changed", "[relative]") {
  // Byte 0 of id 5 changes every tenth frame, which by itself may explain an early frame.
  const auto log_of = [](double seconds) {
    std::vector<CanFrame> out = bus_of({{1, .01}, {2, .02}, {5, .1}}, seconds);
    int k = 0;
    for (CanFrame& frame : out) {
      if (frame.id == 5) frame.payload[0] = static_cast<uint8_t>(k++ / 10 % 2 == 0 ? 0 : 0x80);
    }
    return out;
  };
  const VehicleProfile profile = profile_of(log_of(60));
  const std::vector<CanFrame> log = log_of(10);
  for (int k = 20; k < 30; ++k) {
    for (const double gap : {-0.001, 0.001}) {
      INFO("frame " << k << ", gap " << gap);
      std::vector<CanFrame> attacked = log;
      int seen = 0;
      const auto is_true = [&](const CanFrame& frame) { return frame.id == 5 && seen++ == k; };
      CanFrame copy = *std::find_if(attacked.begin(), attacked.end(), is_true);
      copy.time += gap;
      attacked.push_back(copy);
      std::sort(attacked.begin(), attacked.end(),
                [](const CanFrame& a, const CanFrame& b) { return a.time < b.time; });
      float tight = 0;
      for (const RelativeWindow& window : windows_of(profile, attacked)) {
        tight = std::max(tight, at(window, Relative::kTight));
      }
      CHECK(tight > 10);
    }
  }
}

TEST_CASE("an id sent at once when its value changes is not early", "[relative]") {
  // Byte 0 of id 5 changes each second, and with each frame between those that are due. Where they
  // are forged, the next true frame has the value before.
  const auto log_of = [](double seconds, const std::vector<double>& more, bool are_forged) {
    std::vector<CanFrame> out = bus_of({{1, .01}, {2, .02}, {5, .1}}, seconds);
    int extra = 0;
    for (const double time : more) {
      out.push_back(out.front());
      out.back().time = time;
      out.back().id = 5;
    }
    std::sort(out.begin(), out.end(),
              [](const CanFrame& a, const CanFrame& b) { return a.time < b.time; });
    for (CanFrame& frame : out) {
      if (frame.id != 5) continue;
      const bool is_more = std::find(more.begin(), more.end(), frame.time) != more.end();
      if (is_more) ++extra;
      const int changes = is_more || !are_forged ? extra : 0;
      frame.payload[0] = static_cast<uint8_t>(16 * (static_cast<int>(frame.time) + changes));
    }
    return out;
  };
  const VehicleProfile profile = profile_of(log_of(60, {}, false));
  struct Most {
    float tight = 0, crowd = 0;
  };
  const auto most = [&](const std::vector<double>& more, bool are_forged) {
    Most out;
    for (const RelativeWindow& window : windows_of(profile, log_of(10, more, are_forged))) {
      out.tight = std::max(out.tight, at(window, Relative::kTight));
      out.crowd = std::max(out.crowd, at(window, Relative::kCrowd));
    }
    return out;
  };
  const Most usual = most({}, false);
  CHECK(usual.tight < 1.1F);
  CHECK(usual.crowd < 0.1F);
  const auto is_usual = [&](const Most& seen) {
    return seen.tight == usual.tight && seen.crowd == usual.crowd;
  };
  CHECK(is_usual(most({5.44}, false)));
  CHECK(is_usual(most({5.42, 5.46}, false)));
  CHECK_FALSE(is_usual(most({5.42, 5.44, 5.46}, false)));
  std::vector<double> forged;
  for (int count = 1; count <= 5; ++count) {
    INFO(count << " frames are forged");
    forged.push_back(5.41 + 0.01 * count);
    const Most seen = most(forged, true);
    CHECK(seen.tight > 1.5F);
    CHECK(seen.crowd > 0.3F);
  }
}

TEST_CASE("a burst of equal forged frames has early ones", "[relative]") {
  // Byte 0 of id 5 rests: each frame of the burst but the first is like the one before it.
  const std::vector<CanFrame> log = bus_of({{1, .01}, {2, .02}, {5, .1}}, 60);
  const VehicleProfile profile = profile_of(log);
  for (int count = 1; count <= 6; ++count) {
    std::vector<CanFrame> attacked(log.begin(), log.begin() + 1500);
    const double begin = attacked[800].time;
    for (int i = 0; i < count; ++i) {
      attacked.push_back(attacked.front());
      attacked.back().id = 5;
      attacked.back().time = begin + 0.002 * (i + 1);
      attacked.back().payload[0] = 0xF0;
    }
    std::sort(attacked.begin(), attacked.end(),
              [](const CanFrame& a, const CanFrame& b) { return a.time < b.time; });
    float tight = 0;
    for (const RelativeWindow& window : windows_of(profile, attacked)) {
      tight = std::max(tight, at(window, Relative::kTight));
    }
    INFO(count << " frames");
    CHECK(tight > 10);
  }
}

}  // namespace
}  // namespace kdgat::data
