// Vector's text logs: from when their times count, what each of their lines is, and how the form is
// recognised.
#include <catch2/catch.hpp>
#include <cmath>

#include "support/can/log_text.h"
#include "support/can/read_form.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::read_form;
using test::ReadForm;

const std::string kDate = "date Sat Sep 30 15:06:13.191 2017\n";
const std::string kBase = "base hex  timestamps absolute\n";
const std::string kFrame = "   0.100000 1  123             Rx   d 2 01 02\n";
constexpr double kStart = 1506783973.191;

bool near(double a, double b) { return std::abs(a - b) < 1e-6; }

/// Of a log with one frame.
double first_time(const std::string& text) {
  const ReadForm read = read_form(text);
  INFO(read.problems);
  REQUIRE(read.format == "asc");
  REQUIRE_FALSE(read.frames.empty());
  return read.frames[0].time;
}

TEST_CASE("ASC: times count from the trigger block, else from the date", "[asc]") {
  const std::string trigger = "Begin Triggerblock Tue Nov 14 22:13:20.123 2023\n";
  CHECK(near(first_time(kDate + kBase + kFrame), kStart + 0.1));
  CHECK(near(first_time(kDate + kBase + trigger + kFrame), 1700000000.223));
  const ReadForm foreign =
      read_form("date lun. ene. 30 15:06:13.191 2017\n" + kBase + trigger + kFrame);
  REQUIRE(foreign.frames.size() == 1);
  CHECK(near(foreign.frames[0].time, 1700000000.223));
  CHECK(foreign.problems.empty());
  const ReadForm other =
      read_form(kDate + kBase + "Begin Triggerblock mar. dic. 14 22:13:20 2023\n" + kFrame);
  REQUIRE(other.frames.size() == 1);
  CHECK(near(other.frames[0].time, kStart + 0.1));
  CHECK_THAT(other.problems, Contains("log:3: the date of the trigger block is not understood"));
}

TEST_CASE("ASC: a later trigger block counts from its own date where its times begin anew",
          "[asc]") {
  const std::string first = "Begin Triggerblock Sat Sep 30 15:06:13.191 2017\n" + kFrame +
                            "   9.000000 1  123             Rx   d 0\nEnd TriggerBlock\n";
  const std::string second = "Begin Triggerblock Sat Sep 30 15:07:13.191 2017\n";
  const ReadForm anew = read_form(kDate + kBase + first + second + kFrame);
  REQUIRE(anew.frames.size() == 3);
  CHECK(near(anew.frames[2].time, kStart + 60.1));
  const ReadForm on = read_form(kDate + kBase + first + second + "  60.100000 1  123 Rx d 0\n");
  REQUIRE(on.frames.size() == 3);
  CHECK(near(on.frames[2].time, kStart + 60.1));
}

TEST_CASE("ASC: dates in ISO are read, those in other languages are reported", "[asc]") {
  for (const char* date : {"date 2017-09-30 15:06:13.191\n", "date 2017-09-30T15:06:13,191Z\n",
                           "date 2017/09/30 17:06:13.191 +02:00\n"}) {
    INFO(date);
    CHECK(near(first_time(date + kBase + kFrame), kStart + 0.1));
  }
  for (const char* date : {"date \xe5\x9c\x9f 10\xe6\x9c\x88 4 15:06:13.191 2017\n",
                           "date \xe5\x91\xa8\xe5\x85\xad 9\xe6\x9c\x88 30 15:06:13.191 2017\n",
                           "date lun. ene. 30 15:06:13.191 2017\n", "date whenever\n",
                           "date 2017-13-30 15:06:13.191\n"}) {
    INFO(date);
    const ReadForm read = read_form(date + kBase + kFrame);
    CHECK(read.format == "asc");
    REQUIRE(read.frames.size() == 1);
    CHECK(near(read.frames[0].time, 0.1));
    CHECK_THAT(read.problems, Contains("log:1: the date is not understood; times count from 0"));
  }
}

TEST_CASE("ASC: a byte order mark, blank lines and comments do not hide the form", "[asc]") {
  for (const char* ahead : {"\xEF\xBB\xBF", "\n  \n", "; converted by a tool\n",
                            "// version 9.0.0\n\n", "\xEF\xBB\xBF// a comment\r\n"}) {
    INFO(ahead);
    const ReadForm read = read_form(ahead + kDate + kBase + kFrame);
    CHECK(read.format == "asc");
    REQUIRE(read.frames.size() == 1);
    CHECK(near(read.frames[0].time, kStart + 0.1));
    CHECK(read.problems.empty());
  }
  CHECK(read_form(kBase + kFrame).format == "asc");
  std::string dos = kDate + kBase + kFrame;
  for (std::size_t at = 0; (at = dos.find('\n', at)) != std::string::npos; at += 2) {
    dos.insert(at, 1, '\r');
  }
  CHECK(read_form("\xEF\xBB\xBF" + dos).frames.size() == 1);
}

TEST_CASE("ASC: negative times are frames", "[asc]") {
  const ReadForm read = read_form(kDate + kBase + "  -0.500000 1  122  Rx   d 2 01 02\n" + kFrame);
  REQUIRE(read.frames.size() == 2);
  CHECK(near(read.frames[0].time, kStart - 0.5));
  CHECK(read.problems.empty());
}

TEST_CASE("ASC: times of day, as BUSMASTER writes them, count from midnight", "[asc]") {
  const std::string head = "date Mon Dec 6 11:21:13 am 2021\nbase hex  no internal events logged\n";
  const ReadForm read = read_form(head +
                                  "40874.808200 1 122 Rx d 2 E3 0C\n"
                                  "40875.0 1 16A954A6x Rx d 1 20\n");
  REQUIRE(read.frames.size() == 2);
  CHECK(near(read.frames[0].time, 1638789674.8082));  // 11:21:14.8082
  CHECK(near(read.frames[1].time, 1638789675));
  CHECK_THAT(read.problems, Contains("seconds since midnight"));
  CHECK(near(first_time(head + "40774.0 1 122 Rx d 0\n"), 1638789673 + 40774.0));
}

TEST_CASE("ASC: a line of CAN FD without the flag 0x1000 is a classic frame", "[asc]") {
  const std::string rest = "   130000  130     ";
  const ReadForm read =
      read_form(kDate + kBase + "1.0 CANFD   1 Rx        123    0 0 8  8 01 02 03 04 05 06 07 08" +
                rest + "0 0 0 0 0 0\n1.1 CANFD   1 Rx  18FEF100x  0 0 3  3 0A 0B 0C" + rest +
                "0 0 0 0 0 0\n1.2 CANFD   1 Rx  124  Name 1 0 2  2 01 02" + rest +
                "3000 0 0 0 0 0\n1.3 CANFD   1 Rx  125  0 0 4  0" + rest +
                "10 0 0 0 0 0\n1.4 CANFD   1 Rx  126  0 0 3  2 01 02" + rest + "3000 0\n");
  INFO(read.problems);
  REQUIRE(read.frames.size() == 4);
  CHECK_FALSE(read.frames[0].fd);
  CHECK_FALSE(read.frames[1].fd);
  CHECK(read.frames[1].extended);
  CHECK(read.frames[2].fd);
  CHECK(read.frames[3].remote);
  CHECK_FALSE(read.frames[3].fd);
  CHECK(read.malformed == 1);  // the code says three bytes, and there are two
}

TEST_CASE("ASC: a channel of CAN XL carries classic frames and those of CAN FD", "[asc]") {
  const std::string tail = " 174 00000000 00000000 000000050005000e\n";
  const ReadForm read = read_form(
      kDate + kBase + "0.2 CANXL   2 Rx   CBFF   243215   176   432  Msg1   2 2 e1 89" + tail +
      "0.3 CANXL   2 Rx   FBFF   243215   176   1A2   9 12 e1 89 e8 c2 b9 6d 5a f1 11 22 33 44 a "
      "12345 00001240\n" +
      "0.4 CANXL   1 Tx   CEFF   243215   176   18FEF100x   1 1 e1" + tail +
      "0.5 CANXL   1 Tx   FEFF   243215   176   18FEF100   1 1 e1 a 1 1240\n" +
      "0.6 CANXL   1 Rx   XLFF   243215   176   432   0 1 0 0 af 0 174 00000000\n" +
      "0.7 CANXL   1 Rx   CBFF   243215   176   18FEF100x   1 1 e1" + tail +
      "0.8 CANXL   1 Rx   CBFF   243215   176   43   4 0" + tail);
  INFO(read.problems);
  REQUIRE(read.frames.size() == 5);
  CHECK(read.frames[0].id == 0x432);
  CHECK(read.frames[0].channel == 1);
  CHECK_FALSE(read.frames[0].fd);
  CHECK(read.frames[1].fd);
  CHECK(read.frames[1].length == 12);
  CHECK(read.frames[1].payload[11] == 0x44);
  CHECK(read.frames[2].extended);
  CHECK(read.frames[3].extended);
  CHECK(read.frames[3].fd);
  CHECK(read.frames[4].remote);
  CHECK(read.malformed == 1);
  CHECK_THAT(read.problems, Contains("CAN XL frames 1") &&
                                Contains("the id does not agree with the frame format"));
}

TEST_CASE("ASC: every line is a frame, of a known kind, or malformed", "[asc]") {
  const ReadForm read = read_form(
      kDate + kBase + "internal events logged\n// version 9.0.0\n" +
      "Begin Triggerblock Sat Sep 30 15:06:13.191 2017\n   0.000000 Start of measurement\n" +
      "   0.05 CAN 1 Status:chip status error active\n" + kFrame +
      "   0.2 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%\n   0.3 1  ErrorFrame\n"
      "   0.4 Li 12 Rx 2 01 02\n   0.5 Fr RMSG 0 0 1\n   0.6 ETH 1 Rx 10:aa\n"
      "   0.7 1  123 TxRq d 2 01 02\n   0.8 SV: 3 0 1 ::Value = 3\n   0.9 log trigger event\n"
      "End TriggerBlock\nsome words\n   1.0\n   1.1 1 123 Sx d 0\n   1.2 1 123 Rx d 2 01 02 03\n");
  CHECK(read.frames.size() == 1);
  CHECK(read.malformed == 4);
  CHECK_THAT(read.problems,
             Contains("1 error frame is counted") && Contains("records of other kinds") &&
                 Contains("comments 1") && Contains("starts 1") && Contains("statistics 1") &&
                 Contains("LIN 1") && Contains("FlexRay 1") && Contains("Ethernet 1") &&
                 Contains("requests to send 1") && Contains("events 1") && Contains("triggers 1") &&
                 Contains("log:18: neither a frame nor a known line of an ASC log: some words"));
}

TEST_CASE("a table with a column called date is no ASC log", "[asc]") {
  CHECK_THAT(test::data_error([] { read_form("date time id data\n1 2 3 4\n"); }),
             Contains("no known log form"));
}

TEST_CASE("ASC logs from the field", "[asc]") {
  const auto folder = test::shared_path("field");
  if (!folder) return;
  const auto read = [&](const char* name) { return read_form(file::ByteReader(*folder / name)); };
  CHECK(near(read("asc_pythoncan.asc").frames.at(0).time, 1700000000.123));
  CHECK(near(read("asc_negative.asc").frames.at(0).time, kStart - 0.5));
  CHECK(read("asc_negative.asc").frames.size() == 3);
  CHECK(read("asc_canxl.asc").frames.size() == 4);
  CHECK(near(read("asc_bom.asc").frames.at(0).time, kStart + 0.1));
  CHECK(near(read("asc_comment_first.asc").frames.at(0).time, kStart + 0.1));
  CHECK(near(read("asc_date_ja.asc").frames.at(0).time, 0.1));
  CHECK_THAT(read("asc_date_ja.asc").problems, Contains("times count from 0"));
  const ReadForm classic = read("asc_classic_in_canfd.asc");
  REQUIRE(classic.frames.size() == 4);
  for (const CanFrame& frame : classic.frames) CHECK(frame.fd == (frame.id == 0x124));
}

}  // namespace
}  // namespace kdgat::data
