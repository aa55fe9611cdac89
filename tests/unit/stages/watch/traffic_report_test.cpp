// Reports of the traffic of a watched bus: rates, unknown ids, losses, silence, and latencies.
#include "watch/traffic_report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat::watch {
namespace {

using live::BusCounts;
using live::BusState;
using live::LiveFrame;

constexpr int64_t kSecond = 1'000'000'000;

/// Knows ids below 0x100, and judged what it is told.
class KnownIds : public decision::LogJudge {
 public:
  void add(const data::CanFrame&, bool) override {}
  void finish() override {}
  void check(int64_t) const override {}
  bool is_learning() const override { return false; }
  bool knows(uint32_t key) const override { return key < 0x100; }
};

LiveFrame frame_at(double time, uint32_t id) {
  LiveFrame out;
  out.frame.time = time;
  out.frame.id = id;
  out.frame.length = 8;
  out.frame.extended = id >= 0x800;
  out.received = static_cast<int64_t>(time * 1e9);
  return out;
}

std::string only(const std::vector<std::string>& changes) {
  REQUIRE(changes.size() == 1);
  return changes.front();
}

TEST_CASE("a quantile of latencies is an upper bound, exact to an eighth", "[watch]") {
  Latency latency;
  CHECK(latency.quantile(0.99) == 0);
  for (int64_t us = 1; us <= 1000; ++us) latency.add(us * 1000);
  for (const double share : {0.01, 0.5, 0.9, 0.99}) {
    const double exact = share * 1000e-6;
    CHECK(latency.quantile(share) >= exact);
    CHECK(latency.quantile(share) <= exact * 1.125);
  }
  CHECK(latency.quantile(1) == Approx(1000e-6));
  CHECK(latency.json().at("count") == 1000);
  CHECK(latency.json().at("sum").get<double>() == Approx(0.5005));
  latency.add(-5);  // a clock that stands still
  CHECK(latency.total() == 1001);
}

TEST_CASE("rates are those of the frames' own time since the last report", "[watch]") {
  const KnownIds judge;
  TrafficReport report(500'000, 1, false);
  const auto send = [&](double from, int count, double step, uint32_t id) {
    for (int i = 0; i < count; ++i) report.add(frame_at(from + i * step, id), judge);
  };
  send(100, 1001, 0.001, 0x10);
  nlohmann::json said = report.report(judge, {});
  CHECK(said.at("frames") == 1001);
  CHECK(said.at("frames_per_second").get<double>() == Approx(1001).epsilon(0.01));
  CHECK(said.at("load").get<double>() > 0.2);
  CHECK(said.at("load").get<double>() < 0.3);
  CHECK(said.at("unknown") == 0);
  CHECK(said.at("highest_score").is_null());
  report.judged(frame_at(101, 0x10), 3.5F, 101 * kSecond + 2000);
  report.judged(frame_at(101, 0x10), 1.5F, 101 * kSecond + 2000);
  send(101.01, 100, 0.01, 0x200);
  send(102.01, 10, 0.01, 0x12345);
  said = report.report(judge, {});
  CHECK(said.at("frames_per_second").get<double>() == Approx(100).epsilon(0.1));
  CHECK(said.at("unknown") == 110);
  CHECK(said.at("unknown_ids") == 2);
  CHECK(said.at("highest_score") == 3.5F);
  CHECK(said.at("decision").at("count") == 2);
  // An hour without frames is a pause, not an hour of traffic.
  send(5000, 100, 0.01, 0x10);
  CHECK(report.report(judge, {}).at("frames_per_second").get<double>() > 49);
}

TEST_CASE("traffic is measured by a clock that nobody sets", "[watch]") {
  // A computer without a clock begins in 1970, is set by NTP, and set back once more.
  const auto frame = [](double time, double received) {
    LiveFrame out = frame_at(time, 0x10);
    out.received = static_cast<int64_t>(received * 1e9);
    return out;
  };
  TrafficClock live(true), log(false);
  const KnownIds judge;
  TrafficReport report(500'000, 1, true);
  double received = 5;
  for (const double from : {10.0, 1.7e9, 3600.0}) {
    for (int i = 0; i < 100; ++i, received += 0.01) {
      live.add(frame(from + i * 0.01, received));
      log.add(frame(from + i * 0.01, received));
      report.add(frame(from + i * 0.01, received), judge);
    }
  }
  CHECK(live.seconds() == Approx(2.99));
  // The log's own clock cannot know how long its steps took: one ahead counts as a pause.
  CHECK(log.seconds() == Approx(3 * 0.99 + data::kLongestPause));
  CHECK(report.report(judge, {}).at("frames_per_second").get<double>() == Approx(300 / 2.99));
  live.add(frame(3700, 900));
  CHECK(live.seconds() == Approx(2.99 + data::kLongestPause));  // silence is no traffic
}

TEST_CASE("what changes on a bus is said once", "[watch]") {
  const KnownIds judge;
  TrafficReport report(500'000, 1, true), of_log(500'000, 1, false);
  std::vector<BusCounts> buses(1);
  buses[0].name = "can0";
  CHECK(report.changes(buses, 5 * kSecond).empty());  // nothing has come since the start, just now
  report.add(frame_at(10, 0x10), judge);
  CHECK(report.changes(buses, 10 * kSecond).empty());
  CHECK_THAT(only(report.changes(buses, 12 * kSecond)), Catch::Contains("silent"));
  CHECK(report.changes(buses, 13 * kSecond).empty());
  report.add(frame_at(14, 0x10), judge);
  CHECK_THAT(only(report.changes(buses, 14 * kSecond)), Catch::Contains("speaks again"));
  of_log.add(frame_at(14, 0x10), judge);
  CHECK(of_log.changes(buses, 60 * kSecond).empty());  // of a log silence means nothing
  report.add(frame_at(60, 0x10), judge);
  buses[0].state = BusState::kDown;
  CHECK_THAT(only(report.changes(buses, 60 * kSecond)), Catch::Contains("can0 is down"));
  buses[0].state = BusState::kUp;
  CHECK_THAT(only(report.changes(buses, 60 * kSecond)), Catch::Contains("can0 is back"));
  buses[0].kernel_drops = 7;
  buses[0].queue_drops = 2;
  CHECK_THAT(only(report.changes(buses, 60 * kSecond)),
             Catch::Contains("9 frames were lost (7 by the kernel's buffer and 2 by"));
  CHECK(report.changes(buses, 60 * kSecond).empty());
}

TEST_CASE("a bus of other ids is said to be strange, and usual again", "[watch]") {
  const KnownIds judge;
  TrafficReport report(500'000, 1, false);
  for (int i = 0; i < 200; ++i) report.add(frame_at(i * 0.001, 0x10), judge);
  CHECK(report.changes({}, 0).empty());
  for (int i = 0; i < 200; ++i) report.add(frame_at(1 + i * 0.001, 0x300), judge);
  CHECK_THAT(only(report.changes({}, 0)), Catch::Contains("does not have"));
  // Bursts are told once; it is over after ten looks without any.
  const auto usual = [&](int looks) {
    for (int look = 1; look <= looks; ++look) {
      for (int i = 0; i < 200; ++i) report.add(frame_at(2 + i * 0.001, 0x10), judge);
      const std::vector<std::string> changes = report.changes({}, 0);
      if (look < 10) {
        CHECK(changes.empty());
      } else {
        CHECK_THAT(only(changes), Catch::Contains("of this vehicle again"));
      }
    }
  };
  usual(5);
  for (int i = 0; i < 200; ++i) report.add(frame_at(3 + i * 0.001, 0x300), judge);
  CHECK(report.changes({}, 0).empty());
  usual(10);
  // Another model may know other ids.
  report.forget_ids();
  CHECK(report.report(judge, {}).at("unknown_ids") == 0);
}

}  // namespace
}  // namespace kdgat::watch
