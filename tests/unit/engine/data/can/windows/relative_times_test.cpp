#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "engine/data/can/windows/relative_windows.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"

namespace kdgat::data {
namespace {

using test::at;
using test::bus_of;
using test::Sent;
using test::windows_of;

/// The least and the largest silence of windows that end in (begin, end).
std::pair<float, float> silences(const VehicleProfile& profile, const std::vector<CanFrame>& log,
                                 double begin, double end) {
  std::pair<float, float> out = {INFINITY, 0};
  for (const RelativeWindow& window : windows_of(profile, log)) {
    if (window.end <= begin || window.end >= end) continue;
    const float silence = at(window, Relative::kSilence);
    out = {std::min(out.first, silence), std::max(out.second, silence)};
  }
  return out;
}

TEST_CASE("an id that pauses may pause for longer", "[relative]") {
  const std::vector<Sent> others = {{1, .01}, {2, .01}, {4, .02}};
  const auto bus = [&](double until, double again) {
    std::vector<Sent> ids = others;
    ids.push_back({3, .02, until, again});
    return bus_of(ids, 30);
  };
  const VehicleProfile pauses = profile_of(bus(10, 12)), never = profile_of(bus(40, 40));
  CHECK(silences(pauses, bus(5, 11), 0, 30).second == Approx(1).margin(0.1));
  CHECK(silences(pauses, bus(5, 19), 0, 30).second > 2);
  CHECK(silences(never, bus(5, 5.2), 0, 30).second > 3);
}

TEST_CASE("frames beyond twice as many as usual are surplus", "[relative]") {
  const std::vector<Sent> others = {{1, .01}, {2, .01}, {4, .02}};
  const auto surplus = [&](double period) {
    std::vector<Sent> ids = others;
    ids.push_back({3, period});
    double sum = 0;
    const std::vector<RelativeWindow> windows = windows_of(
        profile_of(bus_of({{1, .01}, {2, .01}, {4, .02}, {3, .02}}, 30)), bus_of(ids, 10));
    for (const RelativeWindow& window : windows) sum += at(window, Relative::kSurplus);
    return sum * 100 / (10 / period);  // of the id's frames
  };
  CHECK(surplus(.02) == 0);
  CHECK(surplus(.011) == 0);
  CHECK(surplus(.005) == Approx(0.5).margin(0.02));  // where a half of them is usual
  CHECK(surplus(.001) == Approx(0.9).margin(0.01));
}

TEST_CASE("where a unit starts, its second frame may come at any time", "[relative]") {
  const std::vector<Sent> ids = {{1, .01}, {2, .01}, {4, .02}, {3, .02}};
  const VehicleProfile profile = profile_of(bus_of(ids, 30));
  std::vector<CanFrame> log;
  // The bus sleeps from 10 s to 20 s.
  for (const CanFrame& frame : bus_of(ids, 30)) {
    if (frame.time < 10 || frame.time >= 20) log.push_back(frame);
  }
  CanFrame early = *std::find_if(log.begin(), log.end(), [](const CanFrame& frame) {
    return frame.id == 3 && frame.time > 20;
  });
  const auto most = [&](double time) {
    std::vector<CanFrame> with = log;
    early.time = time;
    with.insert(std::upper_bound(with.begin(), with.end(), time,
                                 [](double t, const CanFrame& f) { return t < f.time; }),
                early);
    float tight = 0, crowd = 0;
    for (const RelativeWindow& window : windows_of(profile, with)) {
      tight = std::max(tight, at(window, Relative::kTight));
      crowd = std::max(crowd, at(window, Relative::kCrowd));
    }
    return std::pair(tight, crowd);
  };
  const auto [tight, crowd] = most(early.time - .005);
  CHECK(tight < 1.5F);
  CHECK(crowd < 0.1F);
  const auto [later_tight, later_crowd] = most(25.005);
  CHECK(later_tight > 1.5F);
  CHECK(later_crowd > 0.4F);
}

TEST_CASE("an id that stops is silent until it sends again", "[relative]") {
  // 10, 11 and 12 have few frames when the profile was learned.
  const std::vector<Sent> usual = {{1, .01}, {2, .01}, {3, .02}, {4, .02},
                                   {5, .02}, {10, .1}, {11, .1}, {12, .2}};
  const VehicleProfile profile = profile_of(bus_of(usual, 15));
  for (const IdProfile& one : profile.ids) {
    INFO(one.id);
    CHECK(one.is_missed(profile.seconds));
    CHECK((one.frames >= IdProfile::kManyFrames) == (one.id < 10));
  }
  const auto with = [&](std::initializer_list<std::size_t> silent) {
    std::vector<Sent> out = usual;
    for (const std::size_t i : silent) out[i].until = 8, out[i].again = 16;
    return bus_of(out, 24);
  };
  SECTION("often or rarely sent, alone") {
    for (const std::size_t i : {2, 5, 7}) {
      INFO("id " << usual[i].id);
      const std::vector<CanFrame> log = with({i});
      CHECK(silences(profile, log, 8.9, 16).first > 2);
      CHECK(silences(profile, log, 0, 8).second < 1.5F);
      CHECK(silences(profile, log, 17, 24).second < 1.5F);
    }
  }
  SECTION("a unit of rarely sent ids pauses as a whole") {
    CHECK(silences(profile, with({5, 6}), 0, 24).second < 2);
  }
  SECTION("of ids that are often sent each is missed") {
    CHECK(silences(profile, with({2, 3}), 9, 16).first > 2);
  }
}

TEST_CASE("an id that was sent in a burst, or in some mode, is not missed", "[relative]") {
  const VehicleProfile profile =
      profile_of(bus_of({{1, .01}, {2, .02}, {3, .012, 5}, {4, .05, 9}}, 15));
  std::vector<uint32_t> missed;
  for (const IdProfile& one : profile.ids) {
    INFO(one.id);
    REQUIRE(one.regular());
    if (one.is_missed(profile.seconds)) missed.push_back(one.id);
  }
  CHECK(missed == std::vector<uint32_t>{1, 2});
  CHECK(
      silences(profile, bus_of({{1, .01}, {2, .02}, {3, .012, 5}, {4, .05, 9}}, 24), 0, 24).second <
      1.5F);
}

}  // namespace
}  // namespace kdgat::data
