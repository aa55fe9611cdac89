// Ids with a meaning, buses that are quiet, clocks that are put back.
#include "engine/data/can/frames/protocol_ids.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/data/can/frames/bus_clock.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/windows/relative_windows.h"
#include "engine/data/can/windows/vehicle_profile.h"
#include "support/can/can_traffic.h"
#include "support/can/log_text.h"

namespace kdgat::data {
namespace {

TEST_CASE("diagnostic ids are those of ISO 15765-4", "[protocol]") {
  for (const uint32_t id :
       {0x7DF, 0x7E0, 0x7E7, 0x7E8, 0x7EF, 0x18DB33F1, 0x18DA10F1, 0x18DAF110, 0x18DAFFF1}) {
    INFO(id);
    CHECK(is_diagnostic(id));
  }
  for (const uint32_t id :
       {0x7DE, 0x7F0, 0x000, 0x18DB33F2, 0x18DB34F1, 0x18DA1020, 0x0CDAF110, 0x18DAF0, 0x7DF00}) {
    INFO(id);
    CHECK_FALSE(is_diagnostic(id));
  }
}

TEST_CASE("a J1939 message is its PGN and source, whatever priority and destination",
          "[protocol]") {
  CHECK(j1939_pgn(0x0CF00400) == 0xF004);
  CHECK(j1939_pgn(0x18FEF131) == 0xFEF1);
  CHECK(j1939_pgn(0x18EA00FE) == 0xEA00);  // a destination is no part of it
  CHECK(j1939_pgn(0x1DF00400) == 0x1F004);
  CHECK(j1939_source(0x18FEF131) == 0x31);
  CHECK(j1939_message(0x0CF00400) == j1939_message(0x18F00400));
  CHECK(j1939_message(0x0CF00400) != j1939_message(0x0CF00403));
  CHECK(j1939_message(0x18EA00FE) == j1939_message(0x18EA21FE));
  CHECK(from_source(j1939_message(0x0CF00400), 0x31) == j1939_message(0x18F00431));
  CHECK(0 != kdgat_is_claim(0x18EEFF31));
  CHECK(0 == kdgat_is_claim(0x18EAFF31));
  CHECK(0 != kdgat_is_claim_request(0x18EAFFFE));
  CHECK(0 == kdgat_is_claim_request(0x18EAFF00));
  CanFrame claim;
  claim.length = 8;
  for (std::size_t i = 0; i < 8; ++i) claim.payload[i] = static_cast<uint8_t>(0x10 + i);
  CHECK(kdgat_claim_name(claim.length, claim.payload.data()) == 0x1716151413121110);
  claim.length = 7;
  CHECK(kdgat_claim_name(claim.length, claim.payload.data()) == 0);
}

TEST_CASE("a bus of cars is not taken for J1939", "[protocol]") {
  CHECK(speaks_j1939(std::vector<uint32_t>{0x0CF00400, 0x18FEF100, 0x18FEEE00, 0x18FF1231}));
  CHECK_FALSE(speaks_j1939(std::vector<uint32_t>{0x0CF00400, 0x18FEF100, 0x18FF1231}));
  CHECK_FALSE(speaks_j1939(std::vector<uint32_t>{0x0CF00400, 0x18FEF100, 0x18FEEE00, 0x123}));
  CHECK_FALSE(speaks_j1939(std::vector<uint32_t>{0x1A0, 0x1A1, 0x1A2, 0x1A3}));
  CHECK_FALSE(speaks_j1939({}));
}

TEST_CASE("a recorded truck speaks J1939, and its messages are known under any priority",
          "[protocol]") {
  const auto file = test::shared_path("data/can/j1939-truck/normal.rows0-8000.log.gz");
  if (!file) return;
  CanLog log(file::ByteReader(*file), "auto", false);
  std::vector<CanFrame> first, second;
  CanFrame frame;
  while (log.next(frame)) (log.rows() <= 5000 ? first : second).push_back(frame);
  for (CanFrame& one : second) one.id = (one.id & 0x03FFFFFF) | 2U << 26;
  const VehicleProfile profile = profile_of(first);
  CHECK(profile.ids.size() > 50);
  float unknown = 0;
  const std::vector<RelativeWindow> windows = test::windows_of(profile, second);
  for (const RelativeWindow& window : windows) unknown += test::at(window, Relative::kUnknown);
  CHECK(unknown / static_cast<float>(windows.size()) < 0.02);
}

TEST_CASE("a clock stands still for frames out of order, and follows where it was put back",
          "[protocol]") {
  kdgat_clock clock;
  kdgat_clock_init(&clock);
  const auto read = [&](double time) { return kdgat_read_clock(&clock, time) != 0; };
  CHECK_FALSE(read(100));
  CHECK_FALSE(read(99.5));
  CHECK(clock.now == 100);
  CHECK_FALSE(read(100.2));
  CHECK_FALSE(read(5000));
  int followed = 0;
  for (int i = 0; i < 10; ++i) followed += read(60 + 0.01 * i) ? 1 : 0;
  CHECK(followed == 1);
  CHECK(clock.now == Approx(60.09));
  // Small steps are never followed, however many.
  for (int i = 0; i < 50; ++i) CHECK_FALSE(read(60));
  CHECK(clock.now == Approx(60.09));
  CHECK_FALSE(read(std::numeric_limits<double>::quiet_NaN()));
  CHECK(std::isnan(clock.now));
}

TEST_CASE("of a long pause one second was listened to, and nothing where a clock was put back",
          "[protocol]") {
  CHECK(listened(100, 100.2) == Approx(0.2));
  CHECK(listened(100, 5000) == kLongestPause);
  CHECK(listened(100, 60) == 0);
  CHECK(listened(std::numeric_limits<double>::quiet_NaN(), 60) == 0);
}

TEST_CASE("a bus is quiet with less than half of its usual frames", "[protocol]") {
  kdgat_bus bus{};
  kdgat_bus_anew(&bus);
  for (int i = 0; i < 40; ++i) kdgat_listen(&bus, 100, 0);
  const auto quiet = [&](double rate, int64_t before, double seconds) {
    return kdgat_is_quiet(&bus, rate, before, seconds) != 0;
  };
  CHECK(quiet(100, 0, 1));
  CHECK_FALSE(quiet(100, 0, 0.7));
  CHECK_FALSE(quiet(100, 40, 0.05));  // too few are usual to tell
  CHECK(quiet(100, 40, 0.1));
  CHECK_FALSE(quiet(0, 0, 100));  // nothing is known of that bus
  CHECK_FALSE(quiet(100, 0, std::numeric_limits<double>::quiet_NaN()));
  // Rates that follow from the log: five seconds of traffic, a pause, then half a second.
  BusActivity learning;
  for (int i = 0; i < 500; ++i) learning.add(0, 0.01 * i);
  CHECK(learning.asleep(0) == 0);
  for (int i = 0; i < 50; ++i) learning.add(0, 12 + 0.01 * i);
  CHECK(learning.asleep(0) == Approx(7).margin(1));
  // A third of the frames for three seconds.
  for (int i = 0; i < 100; ++i) learning.add(0, 12.5 + 0.03 * i);
  CHECK(learning.asleep(0) == Approx(10).margin(1.5));
  CHECK(kdgat_was_asleep(learning.asleep(0)) != 0);
  learning.restart();
  learning.add(0, 1e6);
  CHECK(learning.asleep(0) < 12);
}

}  // namespace
}  // namespace kdgat::data
