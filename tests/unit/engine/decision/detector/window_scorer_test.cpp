// A log judged while it streams: what it is compared with, and that it scores as any other way
// would; alarms that are heard one window after another.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/compare/judging.h"
#include "engine/data/can/windows/log_windows.h"
#include "engine/decision/detector/alarms.h"
#include "engine/decision/detector/window_scorer.h"
#include "engine/decision/stream/bus_fit.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"
#include "support/can/watched_drives.h"

using namespace kdgat;
using namespace kdgat::compare;
using namespace kdgat::data;
using namespace kdgat::decision;
using Catch::Contains;
using kdgat::test::drive;
using kdgat::test::Frames;
using kdgat::test::watched_logs;
using kdgat::test::watching_model;

namespace {

constexpr int64_t kOwnWindows = 300;

struct Watched {
  std::vector<JudgedWindow> windows;
  std::vector<int64_t> given_at;  ///< rows read when each came
  std::string vehicle;
  int64_t own = 0;
};

Watched watched(const Frames& frames, int64_t own_windows = kOwnWindows) {
  Watched out;
  int64_t rows = 0;
  WindowScorer watch(watching_model(), "a.log", own_windows, [&](const JudgedWindow& window) {
    out.windows.push_back(window);
    out.given_at.push_back(rows);
  });
  for (const data::CanFrame& frame : frames) {
    ++rows;
    watch.add(frame, false);
  }
  watch.finish();
  if (watch.vehicle() != nullptr) out.vehicle = watch.vehicle()->name;
  out.own = watch.own();
  return out;
}

Frames without_labels(Frames log) {
  for (data::CanFrame& frame : log) frame.label = -1;
  return log;
}

}  // namespace

TEST_CASE("a known vehicle's log gets the scores of its profile, window by window", "[watch]") {
  const DetectorModel& model = watching_model();
  const Frames log = drive(40, 7, "spoofing");
  const Watched out = watched(log);
  CHECK(out.vehicle == "train_01/car0-a.csv");
  CHECK(out.own == 0);
  const std::vector<data::RelativeWindow> expected =
      test::windows_of(model.vehicles.front().profile, log);
  REQUIRE(out.windows.size() == expected.size());
  for (std::size_t w = 0; w < expected.size(); ++w) {
    const JudgedWindow& window = out.windows[w];
    CHECK(window.score == static_cast<float>(model.score(expected[w], model.decision(0))));
    CHECK(window.number == static_cast<int64_t>(w));
    CHECK(window.relative.first_row == static_cast<int64_t>(100 * w));
    CHECK(window.time == log[100 * w].time);
    CHECK_FALSE(window.is_own);
    std::set<uint32_t> ids;
    for (std::size_t row = 100 * w; row < 100 * w + 100; ++row) ids.insert(log[row].key());
    CHECK(window.ids == std::ssize(ids));
  }
}

TEST_CASE("a vehicle never seen is learned by seconds", "[watch]") {
  const Frames fast = drive(120, 8, "", 2);
  const auto in_seconds = [](const Frames& log, double seconds) {
    const auto end = std::find_if(log.begin(), log.end(), [&](const data::CanFrame& frame) {
      return frame.time - log.front().time >= seconds;
    });
    return (end - log.begin()) / 100 + 1;
  };
  const Watched out = watched(fast, 0);
  CHECK(out.own == in_seconds(fast, watching_model().own_seconds));
  CHECK(out.given_at.front() == out.own * 100);
  // Of a slow bus the windows that are needed at least; of pauses a second counts.
  Frames slow = fast;
  for (data::CanFrame& frame : slow) frame.time = 20 * frame.time;
  CHECK(watched(slow, 0).own == kLeastOwn);
  Frames pauses = fast;
  for (std::size_t i = 0; i < pauses.size(); ++i) {
    pauses[i].time += 3600 * static_cast<double>(i / 1000);
  }
  CHECK(watched(pauses, 0).own < out.own);
  CHECK(watched(pauses, 0).own > out.own / 4);
}

TEST_CASE("a log is judged the same from a store and while it streams", "[watch]") {
  for (const StoredLog& log : watched_logs().tests()) {
    INFO(log.name());
    const JudgedLog judged = judge(log, watching_model());
    // As score reads it: line by line.
    Watched out;
    WindowScorer watch(watching_model(), log.name(), 0,
                       [&](const JudgedWindow& window) { out.windows.push_back(window); });
    data::CanLog file(
        file::ByteReader(watched_logs().folder() / "logs" / log.name(), [] { return false; }),
        "auto", false);
    data::CanFrame frame;
    while (file.next(frame)) watch.add(frame, file.restarted());
    watch.finish();
    CHECK((watch.own() > 0) == (log.part() == "test_02"));
    REQUIRE(judged.own == watch.own());
    const std::vector<float>& scores = judged.find(kDetector)->scores;
    REQUIRE(out.windows.size() == scores.size() + static_cast<std::size_t>(judged.own));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const JudgedWindow& window = out.windows[i + static_cast<std::size_t>(judged.own)];
      CHECK(window.score == scores[i]);
      CHECK(window.relative.attack == (judged.labels[i] == 1));
      CHECK_FALSE(window.is_own);
    }
  }
}

TEST_CASE("a vehicle never seen is compared with its own first windows", "[watch]") {
  const Frames log = drive(60, 8, "", 2);
  const Watched out = watched(log, 120);
  CHECK(out.vehicle.empty());
  CHECK(out.own == 120);
  const data::VehicleProfile profile = data::profile_of(std::span(log).first(120 * 100));
  const std::vector<data::RelativeWindow> expected = test::windows_of(profile, log);
  REQUIRE(out.windows.size() == expected.size());
  const Decision& decision = watching_model().decision(120);
  for (std::size_t w = 0; w < expected.size(); ++w) {
    CHECK(out.windows[w].is_own == (w < 120));
    CHECK(out.windows[w].score ==
          static_cast<float>(watching_model().score(expected[w], decision)));
  }
}

TEST_CASE("windows come when the beginning was heard, then one behind the other", "[watch]") {
  const Frames known = without_labels(drive(40, 7));
  const Watched out = watched(known);
  REQUIRE(out.windows.size() > 122);
  CHECK(out.given_at.front() == kMatchWindows * 100);
  CHECK(out.given_at[120] == 122 * 100);
  const Frames strange = without_labels(drive(120, 8, "", 2));
  CHECK(watched(strange).given_at.front() == kOwnWindows * 100);
  CHECK(watched(strange, 40).given_at.front() == 40 * 100);
  // An attack that the log names ends the beginning: what is ahead of it is all there is.
  Frames attacked = drive(60, 8, "", 2);
  attacked[25 * 100 + 7].label = 1;
  const Watched cut = watched(attacked);
  CHECK(cut.own == 25);
  CHECK(cut.given_at.front() == 25 * 100 + 8);
}

TEST_CASE("without labels odd windows near one another end what a profile is learned from",
          "[watch]") {
  Frames log = drive(120, 8, "", 2);
  // From window 150 on each fifth frame is one that nobody sends.
  for (std::size_t i = 15'000; i < 25'000; i += 5) log[i].id = 0x7A0 + static_cast<uint32_t>(i % 7);
  const auto flagged = [](const Watched& out) {
    return std::count_if(out.windows.begin(), out.windows.end(), [](const JudgedWindow& one) {
      return !one.is_own && one.number < 250 && one.score > 0;
    });
  };
  const Watched out = watched(without_labels(log));
  CHECK(out.own >= 148);
  CHECK(out.own <= 150);
  CHECK(out.given_at.front() <= 154 * 100);
  CHECK(flagged(out) >= 100);
  // Labels are believed: none of them says attack.
  const Watched believed = watched(log);
  CHECK(believed.own == kOwnWindows);
  CHECK(flagged(believed) == 0);
  // One odd window alone ends nothing, and does no harm to what is learned.
  Frames once = drive(120, 8, "", 2);
  for (std::size_t i = 15'000; i < 15'100; i += 5) once[i].id = 0x7A0;
  const Watched alone = watched(without_labels(once));
  CHECK(alone.own == kOwnWindows);
  CHECK(std::count_if(alone.windows.begin(), alone.windows.end(),
                      [](const JudgedWindow& one) { return !one.is_own && one.score > 0; }) <= 3);
}

TEST_CASE("a named vehicle is not listened to", "[watch]") {
  const DetectorModel& model = watching_model();
  const Frames log = drive(5, 7, "dos");
  int64_t rows = 0, first = 0;
  WindowScorer watch(model, "a.log", kOwnWindows, [&](const JudgedWindow& window) {
    if (window.number == 0) first = rows;
  });
  watch.take(model.vehicles.front());
  for (const data::CanFrame& frame : log) {
    ++rows;
    watch.add(frame, false);
  }
  CHECK(first == 200);
  CHECK(watch.vehicle() == &model.vehicles.front());
}

TEST_CASE("what is too short to tell is refused, a short log of a known vehicle is not",
          "[watch]") {
  const Frames strange = drive(60, 8, "", 2);
  const auto refused = [](const Frames& log, const std::string& says) {
    CHECK_THROWS_WITH(watched(log), Contains("a.log: a vehicle never seen") && Contains(says));
  };
  refused({strange.begin(), strange.begin() + 1950}, "only 19 windows of its own traffic");
  Frames attacked = strange;
  attacked[300].label = 1;
  refused(attacked, "only 3 windows of its own traffic ahead of the first attack");
  const Frames known = drive(40, 7);
  CHECK(watched({known.begin(), known.begin() + 1500}).windows.size() == 15);
  CHECK(watched({}).windows.empty());
}

TEST_CASE("a log without times is judged by what needs none", "[watch]") {
  Frames log = drive(40, 7, "fuzzing");
  for (data::CanFrame& frame : log) frame.time = std::numeric_limits<double>::quiet_NaN();
  const Watched out = watched(log);
  CHECK(out.vehicle == "train_01/car0-a.csv");
  const auto flagged = [&](bool attack) {
    return std::count_if(out.windows.begin(), out.windows.end(), [&](const JudgedWindow& one) {
      return one.relative.attack == attack && one.score > 0;
    });
  };
  CHECK(flagged(true) > 10);
  CHECK(flagged(false) <= 3);
  CHECK(std::isnan(out.windows.front().time));
}

TEST_CASE("the same ids on another bus are another vehicle's", "[watch]") {
  const Frames log = drive(40, 7);
  CHECK(watched(test::on_channel(log, 1, log)).vehicle.empty());
  CHECK(watched(log).vehicle == "train_01/car0-a.csv");
}

TEST_CASE("a vehicle is found by its ids and by frames that it does not have", "[watch]") {
  const DetectorModel& model = watching_model();
  const auto found = [&](const Frames& log) {
    VehicleFinder finder;
    for (const data::CanFrame& frame : log) finder.add(frame);
    const Vehicle* vehicle = finder.find(model.vehicles, data::profile_of(log));
    return vehicle == nullptr ? "" : vehicle->name;
  };
  Frames log = drive(10, 5, "", 1);
  CHECK(found(log) == "train_01/car1-a.csv");
  CHECK(found(test::merged(log, test::tester(log, 0, 10))) == "train_01/car1-a.csv");
  const auto strange = [&](std::size_t every) {
    Frames out = log;
    for (std::size_t i = 0; i < out.size(); i += every) out[i].id = 0x7A5;
    return found(out);
  };
  CHECK(strange(150) == "train_01/car1-a.csv");
  CHECK(strange(50).empty());
  // A flood that begins later does not make it another car; two such ids do.
  Frames flooded = log;
  const auto flood = [&](std::size_t from, uint32_t id) {
    for (std::size_t i = flooded.size() / 4 + from; i < flooded.size(); i += 4) flooded[i].id = id;
  };
  flood(0, 0);
  CHECK(found(flooded) == "train_01/car1-a.csv");
  flood(1, 0x7A5);
  CHECK(found(flooded).empty());
  CHECK(found({}).empty());
  // Another car of the maker has the ids, but sends many of them at other times, or longer.
  Frames slower = log, shorter = log;
  for (data::CanFrame& frame : slower) frame.time *= 2;
  CHECK(found(slower).empty());
  for (data::CanFrame& frame : shorter) frame.length = 3;
  CHECK(found(shorter).empty());
  // A logger that rounds its times changes nothing.
  Frames rounded = log;
  for (data::CanFrame& frame : rounded) frame.time = 0.015 * std::floor(frame.time / 0.015);
  CHECK(found(rounded) == "train_01/car1-a.csv");
}

TEST_CASE("alarms open with the first flagged window and end two seconds behind the last one",
          "[watch]") {
  using Change = AlarmStream::Change;
  AlarmStream alarms(0);
  int64_t number = 0;
  // Windows of a quarter of a second.
  const auto add = [&](float score) {
    const double begin = 0.25 * static_cast<double>(number);
    return alarms.add(number++, score, begin, begin + 0.25);
  };
  const auto quiet = [&](int64_t windows, float score = -9) {
    for (int64_t i = 0; i < windows; ++i) CHECK(add(score) == Change::kNone);
  };
  quiet(10);
  CHECK(add(1) == Change::kOpened);
  quiet(7);
  CHECK(add(3) == Change::kNone);
  // However near the threshold: what is not flagged keeps no alarm open.
  quiet(7, -0.1F);
  CHECK(alarms.is_open());
  CHECK(add(-0.1F) == Change::kClosed);
  CHECK_FALSE(alarms.is_open());
  CHECK(alarms.alarm().first_window == 10);
  CHECK(alarms.alarm().last_window == 18);
  CHECK(alarms.alarm().peak == 3);
  CHECK(alarms.alarm().peak_window == 18);
  CHECK(alarms.alarm().windows == 2);
  CHECK(alarms.alarm().begin_time == 2.5);
  CHECK(alarms.alarm().end_time == 4.75);
  quiet(5);
  CHECK(add(1) == Change::kOpened);
  quiet(3);
  CHECK(alarms.finish() == Change::kClosed);
  CHECK(alarms.finish() == Change::kNone);
  CHECK(alarms.alarm().last_window == alarms.alarm().first_window);
}

TEST_CASE("alarms of a log without times, or whose clock steps back, end after windows",
          "[watch]") {
  using Change = AlarmStream::Change;
  for (const double step : {std::nan(""), 0.0, -1.0}) {
    INFO(step);
    AlarmStream alarms(0);
    CHECK(alarms.add(0, 1, 0, step) == Change::kOpened);
    for (int64_t number = 1; number < KDGAT_MERGE_WINDOWS; ++number) {
      const double time = step * static_cast<double>(number + 1);
      CHECK(alarms.add(number, -9, time, time) == Change::kNone);
    }
    CHECK(alarms.is_open());
    CHECK(alarms.add(KDGAT_MERGE_WINDOWS, -9, step, step) == Change::kClosed);
  }
}

TEST_CASE("short windows end no alarm before its two seconds are over", "[watch]") {
  using Change = AlarmStream::Change;
  AlarmStream alarms(0);
  CHECK(alarms.add(0, 1, 0, 0.005) == Change::kOpened);
  for (int64_t number = 1; number < 400; ++number) {
    const double begin = 0.005 * static_cast<double>(number);
    CHECK(alarms.add(number, -9, begin, begin + 0.005) == Change::kNone);
  }
  CHECK(alarms.is_open());
  CHECK(alarms.add(400, -9, 2.005, 2.01) == Change::kClosed);
}

TEST_CASE("a detector does not fit where a minute on end is flagged, which is said once",
          "[watch]") {
  BusFit fit;
  // Windows of a quarter of a second: 40 in ten seconds.
  const auto pass = [&](int stretches, int flagged) {
    int said = 0;
    for (int stretch = 0; stretch < stretches; ++stretch) {
      for (int window = 0; window < 40; ++window) said += fit.add(0.25, window < flagged) ? 1 : 0;
    }
    return said;
  };
  CHECK(pass(60, 2) == 0);  // a twentieth
  CHECK(fit.fits());
  CHECK(pass(5, 40) == 0);  // an attack of fifty seconds
  CHECK(fit.fits());
  CHECK(pass(1, 0) == 0);
  CHECK(pass(5, 3) == 0);
  CHECK(pass(1, 3) == 1);
  CHECK_FALSE(fit.fits());
  CHECK(pass(20, 3) == 0);
  CHECK_FALSE(fit.fits());
  CHECK(pass(1, 2) == 0);
  CHECK(fit.fits());
  CHECK(pass(20, 3) == 0);
  CHECK_FALSE(fit.fits());
}
