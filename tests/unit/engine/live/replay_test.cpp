#include "engine/live/replay.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

#include "engine/data/can/logs/can_log.h"
#include "engine/live/pace.h"
#include "support/can/live_frames.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"

namespace kdgat::live {
namespace {

using test::kPatience;

/// Two captures in one file, and a row that is none.
std::string two_captures(int rows) {
  std::string out;
  char row[64];
  for (int i = 0; i < rows; ++i) {
    const int second = 1000 + (i < rows / 2 ? i : i - rows / 2);
    std::snprintf(row, sizeof(row), "(%d.%06d) can0 %03X#%02X%02X\n", second, i, i % 0x800, i & 255,
                  i >> 8 & 255);
    out += row;
    if (i == 2) out += "(1003.0) can0 no frame\n";
  }
  return out;
}

TEST_CASE("a log that is played again gives the frames of the log", "[replay]") {
  const test::ScratchFolder folder;
  constexpr int kRows = 5000;
  test::write_text(folder / "drive.log", two_captures(kRows));
  // A queue much smaller than the log: what has no room is waited for.
  Replay replay((folder / "drive.log").string(), {kMostSpeed, "auto", false, 32});
  replay.start();
  const std::vector<LiveFrame> played = test::take_all(replay);
  CHECK(replay.is_ended());

  data::CanLog log(file::ByteReader(folder / "drive.log"), "auto", false);
  data::CanFrame frame;
  std::size_t at = 0, wrong = 0, restarts = 0;
  while (log.next(frame)) {
    REQUIRE(at < played.size());
    const LiveFrame& live = played[at++];
    wrong += live.frame.time != frame.time || live.frame.key() != frame.key() ||
             live.frame.length != frame.length || live.frame.payload != frame.payload ||
             live.restarts != log.restarted() || live.lost != 0;
    restarts += live.restarts;
  }
  CHECK(at == played.size());
  CHECK(at == kRows);
  CHECK(wrong == 0);
  CHECK(restarts == 1);
  REQUIRE(replay.counts().size() == 1);
  CHECK(replay.counts()[0].frames == kRows);
  CHECK(replay.counts()[0].malformed == 1);
  CHECK(replay.problems().size() == log.problems().size());
  CHECK(replay.problems()[0].text() == log.problems()[0].text());
}

TEST_CASE("a log comes from standard input", "[replay]") {
  const test::ScratchFolder folder;
  test::write_text(folder / "drive.log", two_captures(100));
  const test::StandardInput input(folder / "drive.log");
  Replay replay("-", {kMostSpeed});
  CHECK(replay.name() == "standard input");
  replay.start();
  CHECK(test::take_all(replay).size() == 100);
}

TEST_CASE("a table of labels next to a log labels its replay, one that is broken is reported",
          "[replay]") {
  const test::ScratchFolder folder;
  test::write_text(folder / "drive.log", two_captures(10));
  const auto labels = [&](std::string& problems) {
    Replay replay((folder / "drive.log").string(), {kMostSpeed});
    replay.start();
    std::string out;
    for (const LiveFrame& one : test::take_all(replay)) out += one.frame.label == 1 ? '1' : '0';
    for (const Diagnostic& one : replay.problems()) problems += one.text() + "\n";
    return out;
  };
  std::string problems;
  test::write_text(folder / "drive.labels.csv",
                   "start,stop,label\n1001,1002.5,DoS\n1003,1004,Normal\n");
  CHECK(labels(problems) == "0110001100");
  test::write_text(folder / "drive.labels.csv", "start,stop\n1001,soon\n");
  CHECK(labels(problems) == "0000000000");
  CHECK_THAT(problems, Catch::Contains("drive.labels.csv:2: soon is no time in seconds"));
}

TEST_CASE("a replay reads times and labels as its options say", "[replay]") {
  const test::ScratchFolder folder;
  test::write_text(folder / "drive.csv",
                   "time,id,data,kind of row\n"
                   "1000,100,01,good\n1010,100,02,odd\n1020,100,03,good\n1030,100,04,good\n");
  ReplayOptions options{kMostSpeed};
  options.reading.time_unit = "ms";
  options.reading.label_column = "kind of row";
  options.reading.benign = {"good"};
  Replay replay((folder / "drive.csv").string(), options);
  replay.start();
  const std::vector<LiveFrame> frames = test::take_all(replay);
  REQUIRE(frames.size() == 4);
  CHECK(frames[3].frame.time - frames[0].frame.time == Approx(0.03));
  CHECK(frames[0].frame.label == 0);
  CHECK(frames[1].frame.label == 1);
}

TEST_CASE("what ends a log ends its replay, after the frames ahead of it", "[replay]") {
  const test::ScratchFolder folder;
  test::write_text(folder / "drive.log", two_captures(100));
  Replay replay((folder / "drive.log").string(), {kMostSpeed, "candump", true});
  replay.start();
  CHECK(test::take(replay, 3).size() == 3);
  const std::string fault = test::data_error([&] { replay.next(kPatience); });
  CHECK(fault.find("drive.log:4: ") != std::string::npos);
  CHECK(replay.is_ended());
  CHECK(test::data_error([&] {
          Replay missing((folder / "missing.log").string());
        }).find("missing.log") != std::string::npos);
}

TEST_CASE("a replay at the log's pace is stopped between two frames", "[replay]") {
  const test::ScratchFolder folder;
  test::write_text(folder / "drive.log", "(1000.0) can0 123#\n(9999.0) can0 124#\n");
  Replay replay((folder / "drive.log").string());
  replay.start();
  CHECK(test::take(replay, 1).size() == 1);
  replay.stop();
  CHECK(replay.next(kPatience).empty());
  CHECK(replay.is_ended());
  CHECK(replay.counts()[0].frames == 1);
}

TEST_CASE("a replay that waits for room is stopped, and what it read is given", "[replay]") {
  const test::ScratchFolder folder;
  test::write_text(folder / "drive.log", two_captures(100));
  Replay replay((folder / "drive.log").string(), {kMostSpeed, "auto", false, 8});
  replay.start();
  CHECK_FALSE(replay.next(kPatience).empty());
  replay.stop();
  const std::size_t rest = test::take_all(replay).size();
  CHECK(rest < 92);
  CHECK(replay.is_ended());

  Replay never_taken((folder / "drive.log").string(), {kMostSpeed, "auto", false, 8});
  never_taken.start();
  while (never_taken.counts()[0].frames < 8) std::this_thread::yield();
  // Its end is the test: it would wait for room for ever.
}

TEST_CASE("frames of a replay are due where the log's clock has them", "[replay]") {
  constexpr int64_t kSecond = 1'000'000'000;
  Pace pace(4);
  CHECK(pace.due(NAN, false, 70) == 70);  // nothing to count from
  CHECK(pace.due(1000, false, 100) == 100);
  // From the first frame on, however late the others are asked for.
  CHECK(pace.due(1001, false, 777) == 100 + kSecond / 4);
  CHECK(pace.due(1002, false, 5 * kSecond) == 100 + kSecond / 2);
  CHECK(pace.due(NAN, false, 6 * kSecond) == 100 + kSecond / 2);
  // A small step back is none.
  CHECK(pace.due(1001.996, false, 6 * kSecond) == 100 + kSecond / 2 - kSecond / 1000);
  CHECK(pace.due(1004, false, 6 * kSecond) == 100 + kSecond);
  // A larger one, and another capture, count from now.
  CHECK(pace.due(1003.5, false, 7 * kSecond) == 7 * kSecond);
  CHECK(pace.due(1003.9, false, 7 * kSecond) == 7 * kSecond + kSecond / 10);
  CHECK(pace.due(2000, true, 8 * kSecond) == 8 * kSecond);
  CHECK(pace.due(2002, false, 8 * kSecond) == 8 * kSecond + kSecond / 2);
  // Frames never step ahead of where the count began, nor past what a moment holds.
  CHECK(pace.due(1e300, false, 9 * kSecond) == 8 * kSecond + kSecond * kSecond);
  CHECK(pace.due(INFINITY, false, 9 * kSecond) == 8 * kSecond + kSecond * kSecond);
}

TEST_CASE("a speed is a positive number or max", "[replay]") {
  CHECK(speed_of("1") == 1);
  CHECK(speed_of("0.25") == 0.25);
  CHECK(speed_of("max") == kMostSpeed);
  for (const char* text : {"", "0", "-1", "fast", "1x", "inf", "nan"}) {
    INFO(text);
    CHECK(test::error_of([&] { speed_of(text); }, ExitCode::kUsage).find("no speed") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace kdgat::live
