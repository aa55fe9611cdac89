// Times of logs in other units than seconds, gaps instead of times, candump in all its forms, and
// what a conversion keeps.
#include "engine/data/can/logs/time_reading.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "engine/data/can/can_options.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/convert_log.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::data_error;

struct TimedLog {
  std::vector<CanFrame> frames;
  std::string problems;
  int64_t malformed = 0;
};

TimedLog read_timed(file::ByteReader bytes, const LogReading& times = {}, bool strict = false) {
  CanLog log(std::move(bytes), "auto", strict, kAllChannels, times);
  TimedLog out;
  CanFrame frame;
  while (log.next(frame)) out.frames.push_back(frame);
  out.malformed = log.malformed();
  for (const Diagnostic& one : log.problems()) out.problems += one.text() + "\n";
  return out;
}
TimedLog read_timed(const std::string& text, const LogReading& times = {}, bool strict = false) {
  return read_timed(file::ByteReader("log", text), times, strict);
}

/// Rows whose times are `first` and so many more, `step` apart.
std::string rows(double first, double step, int count) {
  std::string out = "timestamp,arbitration_id,data_field\n";
  for (int i = 0; i < count; ++i) {
    char line[64];
    std::snprintf(line, sizeof line, "%.6f,1A0,00\n", first + step * i);
    out += line;
  }
  return out;
}

TEST_CASE("times of 13, 16 and 19 digits are milli-, micro- and nanoseconds", "[time_reading]") {
  for (const char* zeros : {"000", "000000", "000000000"}) {
    const std::string head = "timestamp,id,data\n1600000000";
    const TimedLog read = read_timed(head + zeros + ",1A0,00\n");
    REQUIRE(read.frames.size() == 1);
    CHECK(read.frames[0].time == 1.6e9);
    CHECK_THAT(read.problems, Contains("times are read as"));
  }
}

TEST_CASE("a header or an option names the unit of times", "[time_reading]") {
  CHECK(read_timed("time_us,id,data\n1500000,1A0,00\n").frames[0].time == 1.5);
  CHECK(read_timed("Timestamp(ms),id,data\n1500,1A0,00\n").frames[0].time == 1.5);
  CHECK(read_timed("timestamp,id,data\n1500,1A0,00\n", {"ms", "auto"}).frames[0].time == 1.5);
  CHECK(read_timed("Time Stamp,ID,Extended,Bus,LEN,D1\n1500000,0000013B,false,0,1,00\n")
            .frames[0]
            .time == 1.5);
}

TEST_CASE("times that frames cannot have are reported", "[time_reading]") {
  CHECK(read_timed(rows(1.6e9, 0.001, 50)).problems.empty());
  CHECK_THAT(read_timed(rows(5, 0, 50)).problems, Contains("all times are the same"));
  CHECK_THAT(read_timed(rows(5, 2, 50)).problems, Contains("more than 1 s apart"));
  CHECK_THAT(read_timed(rows(5, 0.000002, 50)).problems, Contains("less than 10 us apart"));
  CHECK_THAT(read_timed(rows(5, 1e6, 3)).problems,
             Contains("more than 1,000 s apart") && Contains("--time-unit us"));
  CHECK_THAT(read_timed(rows(5e9, 0.001, 3)).problems, Contains("beyond the year 2100"));
}

TEST_CASE("gaps of candump -td are added up", "[time_reading]") {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += i % 2 == 0 ? " (000.010000)  can0  1A0   [1]  00\n"
                       : " (000.030000)  can0  1A1   [1]  00\n";
  }
  const TimedLog read = read_timed(text);
  REQUIRE(read.frames.size() == 60);
  CHECK(read.frames.back().time == Approx(1.2));
  CHECK_THAT(read.problems, Contains("gaps between frames") && Contains("--times absolute"));
  CHECK(read_timed(text, {"auto", "absolute"}).frames.back().time == 0.03);
  CHECK(
      read_timed("timestamp,id,data\n0.5,1A0,00\n0.5,1A0,00\n", {"auto", "delta"}).frames[1].time ==
      1);
}

TEST_CASE("candump may have dates, directions, labels and error frames", "[time_reading]") {
  const TimedLog screen = read_timed(
      " (2018-12-06 09:31:30.5)  can0  TX - -  18EF8183   [3]  03 FF 00\n"
      " (2018-12-06 09:31:30.6)  can0  RX B E  123  [12]  00 01 02 03 04 05 06 07 08 09 0A 0B\n"
      " (2018-12-06 09:31:30.7)  can0  20000004   [8]  00 04 00 00 00 00 00 00   ERRORFRAME\n");
  REQUIRE(screen.frames.size() == 2);
  CHECK(screen.frames[0].time == 1544088690.5);
  CHECK(screen.frames[0].tx);
  CHECK(screen.frames[1].fd_flags == 3);
  CHECK(screen.malformed == 0);
  CHECK_THAT(screen.problems, Contains("1 error frame is counted"));
  const TimedLog log = read_timed(
      "(1.0) can0 20000080#0000000000000000\n(1.1) can0 123#0102 0\n(1.2) can0 123#0102 1\n"
      "(1.3) can0 123#0102 T\n(1.4) can0 123#01 benign\n",
      {}, true);
  REQUIRE(log.frames.size() == 4);
  CHECK(log.frames[0].label == 0);
  CHECK(log.frames[1].label == 1);
  CHECK(log.frames[2].label == -1);
  CHECK(log.frames[2].tx);
  CHECK(log.frames[3].label == 0);
}

std::string converted(const std::string& text, const std::string& ending,
                      std::string* warnings = nullptr) {
  const test::ScratchFolder folder;
  test::write_text(folder / "in.log", text);
  const std::filesystem::path from = folder / "in.log", to = folder / ("out" + ending);
  const nlohmann::json values;
  const ConvertReport report = convert_log({}, {from, values, to, {}, {}});
  for (const Diagnostic& one : report.warnings) {
    if (warnings != nullptr) *warnings += one.text() + "\n";
  }
  std::ifstream in(to);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("a conversion keeps flags, directions and lengths, and makes no label",
          "[time_reading]") {
  const std::string text =
      "(1.000000) can0 123#R5\n(1.010000) can0 124##5112233445566778899AABBCC T\n"
      "(1.020000) can0 125##111\n";
  CHECK(converted(text, ".log") == text);
  CHECK_THAT(converted(text, ".asc"),
             Contains(" Rx r 5\n") && Contains(" Tx ") && Contains("0 0 3000 0 0 0 0 0\n"));
  std::string warnings;
  CHECK(converted(text, ".csv", &warnings) ==
        "timestamp,arbitration_id,data_field\n1.010000,124,112233445566778899AABBCC\n"
        "1.020000,125,11\n");
  CHECK_THAT(warnings, Contains("1 remote frame is not written"));
  CHECK_THAT(converted("(1.0) can0 123#00 1\n(1.1) can0 123#00 0\n", ".csv"),
             Contains("attack\n1.000000,123,00,1\n1.100000,123,00,0\n"));
}

TEST_CASE("a time that a form cannot hold is an error", "[time_reading]") {
  for (const char* ending : {".log", ".asc", ".pcapng", ".blf"}) {
    CHECK_THAT(data_error([&] { converted("(10000000000000000000000) can0 123#00\n", ending); }),
               Contains("cannot be written"));
  }
  CHECK(converted("(-0.5) can0 123#00\n", ".log") == "(-0.500000) can0 123#00\n");
  for (const char* ending : {".asc", ".pcapng", ".blf"}) {
    CHECK_THAT(data_error([&] { converted("(-0.5) can0 123#00\n", ending); }),
               Contains("cannot be written"));
  }
}

TEST_CASE("candump logs of the field are read", "[time_reading]") {
  const auto folder = test::shared_path("field");
  if (!folder) return;
  const auto read = [&](const char* name) {
    return read_timed(file::ByteReader(*folder / name), {}, true);
  };
  CHECK(read("cd_tA.log").frames.size() == 3);
  CHECK(read("cd_screen_x.log").frames.size() == 3);
  CHECK(read("cd_mirgu.log").frames[2].label == 1);
  CHECK_THAT(read("cd_error.log").problems, Contains("error frames are counted"));
  const TimedLog gaps = read("cd_td.log");
  REQUIRE(gaps.frames.size() == 200);
  CHECK(gaps.frames[199].time - gaps.frames[0].time == Approx(2).margin(0.1));
  CHECK(read("csv_us.csv").frames[0].time == 1698233010);
  CHECK_THAT(read("csv_micro.csv").problems, Contains("--time-unit us"));
  const std::string flags = test::read_text(*folder / "convert_flags.log");
  CHECK(converted(flags, ".log") == flags);
  const std::string table = converted(test::read_text(*folder / "unlabelled.log"), ".csv");
  CHECK(table.substr(0, table.find('\n')) == "timestamp,arbitration_id,data_field");
}

}  // namespace
}  // namespace kdgat::data
