// Text logs of PEAK, BUSMASTER and OVMS: what their headers say holds for their rows.
#include <catch2/catch.hpp>
#include <cmath>

#include "support/can/log_text.h"
#include "support/can/read_form.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::read_form;
using test::ReadForm;

bool near(double a, double b) { return std::abs(a - b) < 1e-6; }

TEST_CASE("TRC: version 1.0 says in a comment when it began", "[text_logs]") {
  const std::string row = "     1)      1841 0001 2 00 01\n";
  const std::string head = ";####################\n;   C:\\Sample.trc\n;\n";
  const auto time = [&](const std::string& start) {
    const ReadForm read = read_form(head + start + row);
    INFO(read.problems);
    CHECK(read.format == "trc");
    REQUIRE(read.frames.size() == 1);
    return read.frames[0].time;
  };
  CHECK(near(time(";    Start time: 24.06.2002 09:07:51.106.0\n"), 1024909671.106 + 1.841));
  CHECK(near(time(";    Start time: 24.06.2002 09:07:51.106\n"), 1024909671.106 + 1.841));
  CHECK(near(time(""), 1.841));
  const ReadForm unread = read_form(head + ";    Start time: 6/24/2002 9:07:51 AM\n" + row);
  REQUIRE(unread.frames.size() == 1);
  CHECK(near(unread.frames[0].time, 1.841));
  CHECK_THAT(unread.problems, Contains("log:4: the start time is not understood"));
  // A number of days is exact, whatever stands before and behind it.
  const std::string words = ";   Start time: 24.06.2002 09:07:51.106.0\n";
  const ReadForm exact = read_form(";$FILEVERSION=1.1\n" + words + ";$STARTTIME=25570.5\n" + words +
                                   " 1) 1841.0 Rx 0001 1 00\n");
  REQUIRE(exact.frames.size() == 1);
  CHECK(near(exact.frames[0].time, 129600 + 1.841));
  CHECK(read_form("\xEF\xBB\xBF; made by a tool\n\n;$FILEVERSION=1.1\n 1) 1.0 Rx 0001 1 00\n")
            .format == "trc");
}

/// The header that BUSMASTER writes, and rows.
std::string busmaster(const std::string& base, const std::string& mode, const std::string& rows,
                      const std::string& start = "18:9:2019 22:17:28:928") {
  return "***BUSMASTER Ver 3.2.2***\n***PROTOCOL CAN***\n***NOTE: PLEASE DO NOT EDIT THIS "
         "DOCUMENT***\n***[START LOGGING SESSION]***\n***START DATE AND TIME " +
         start + "***\n***" + base + "***\n***" + mode +
         "***\n***START CHANNEL BAUD RATE***\n***CHANNEL 1 - PCAN-USB - 500000 bps***\n***END "
         "CHANNEL BAUD RATE***\n***START DATABASE FILES***\n***C:\\a.dbf***\n***END OF DATABASE "
         "FILES***\n***<Time><Tx/Rx><Channel><CAN ID><Type><DLC><DataBytes>***\n" +
         rows + "***END DATE AND TIME 18:9:2019 22:18:0:0***\n***[STOP LOGGING SESSION]***\n";
}
constexpr double kBegan = 1568845048.928;  // 22:17:28.928

TEST_CASE("BUSMASTER: numbers in either base, all types of frames", "[text_logs]") {
  const ReadForm read = read_form(busmaster("HEX", "ABSOLUTE MODE",
                                            "00:00:01:1667 Rx 1 0x177 s 3 FE 13 40 \n"
                                            "00:00:02:0000 Tx 2 0x1F9 x 1 20\n"
                                            "119:18:16:6736 Rx 1 0x180 sr 8 \n"
                                            "00:00:03:0000 Rx 1 0x18FEF100 xr 0\n"
                                            "00:00:03:5000 Rx 1 0x10 s 3 01 02\n"
                                            "00:00:03:5000 Rx 1 0x10 s 1 01 02\n"
                                            "00:00:03:5000 Rx 1 0x800 s 1 01\n"
                                            "00:00:03 Rx 1 0x10 s 1 01\n"
                                            "Tx error\n"));
  INFO(read.problems);
  CHECK(read.format == "busmaster");
  REQUIRE(read.frames.size() == 4);
  CHECK(near(read.frames[0].time, kBegan + 1.1667));
  CHECK(read.frames[0].id == 0x177);
  CHECK(read.frames[0].length == 3);
  CHECK(read.frames[0].payload[2] == 0x40);
  CHECK(read.frames[1].extended);
  CHECK(read.frames[1].channel == 1);
  CHECK(read.frames[2].remote);
  CHECK(near(read.frames[2].time, kBegan + 119 * 3600 + 18 * 60 + 16.6736));
  CHECK(read.frames[3].extended);
  CHECK(read.frames[3].remote);
  CHECK(read.malformed == 5);
  const ReadForm decimal =
      read_form(busmaster("DEC", "ABSOLUTE MODE", "00:00:01:0 Rx 1 375 s 2 254 019\n"));
  INFO(decimal.problems);
  REQUIRE(decimal.frames.size() == 1);
  CHECK(decimal.frames[0].id == 375);
  CHECK(decimal.frames[0].payload[0] == 254);
  CHECK(decimal.frames[0].payload[1] == 19);
}

TEST_CASE("BUSMASTER: times count from the start, from the row before, or from midnight",
          "[text_logs]") {
  const std::string rows = "00:00:01:5000 Rx 1 0x1 s 0\n00:00:00:2500 Rx 1 0x1 s 0\n";
  const ReadForm relative = read_form(busmaster("HEX", "RELATIVE MODE", rows));
  REQUIRE(relative.frames.size() == 2);
  CHECK(near(relative.frames[0].time, kBegan + 1.5));
  CHECK(near(relative.frames[1].time, kBegan + 1.75));
  const ReadForm system = read_form(
      busmaster("HEX", "SYSTEM MODE", "23:59:59:5000 Rx 1 0x1 s 0\n00:00:00:2500 Rx 1 0x1 s 0\n"));
  REQUIRE(system.frames.size() == 2);
  const double midnight = 1568851200;  // behind the start
  CHECK(near(system.frames[0].time, midnight - 0.5));
  CHECK(near(system.frames[1].time, midnight + 0.25));
  const ReadForm unknown = read_form(busmaster("HEX", "", rows));
  REQUIRE(unknown.frames.size() == 2);
  CHECK(near(unknown.frames[0].time, kBegan + 1.5));
  CHECK_THAT(unknown.problems, Contains("does not say what times count from"));
  const ReadForm undated =
      read_form(busmaster("HEX", "ABSOLUTE MODE", rows, "2019-09-18 22:17:28"));
  REQUIRE(undated.frames.size() == 2);
  CHECK(near(undated.frames[0].time, 1.5));
  CHECK_THAT(undated.problems, Contains("log:5: the start time is not understood"));
}

TEST_CASE("BUSMASTER: rows of other protocols are counted", "[text_logs]") {
  std::string log = busmaster("HEX", "ABSOLUTE MODE", "00:00:01:5000 Rx 1 12 2 01 02 AB\n");
  log.replace(log.find("PROTOCOL CAN"), 12, "PROTOCOL LIN");
  CHECK_THAT(read_form(log).problems, Contains("1 records of other kinds are left out: LIN 1"));
}

TEST_CASE("CRTD: buses, directions, ids of both lengths and comments", "[text_logs]") {
  const ReadForm read = read_form(
      "1542473901.020305 CXX Info Type:crtd\n"
      "1542473901.020305 1R11 7E8 02 41 00\n"
      "1542473901.021 2T29 18DAF110 03\n"
      "1542473901.022 R11 0000021A FE 36 \n"
      "1542473901.023 CEV vehicle.on\n"
      "1542473901.024 1R29 21A\n"
      "1542473901.025 1R11 7E8 1\n"
      "1542473901.026 1R11 800 01\n"
      "1542473901.027 1X11 7E8 01\n"
      "1542473901.028 CER Error intr:1\n"
      "1542473901.029 R11 7E8 01 02 03 04 05 06 07 08 09\n");
  INFO(read.problems);
  CHECK(read.format == "crtd");
  REQUIRE(read.frames.size() == 4);
  CHECK(near(read.frames[0].time, 1542473901.020305));
  CHECK(read.frames[0].id == 0x7e8);
  CHECK(read.frames[0].length == 3);
  CHECK(read.frames[0].channel == 0);
  CHECK(read.frames[1].extended);
  CHECK(read.frames[1].channel == 1);
  CHECK_FALSE(read.frames[2].extended);
  CHECK(read.frames[2].channel == 0);
  CHECK(read.frames[3].extended);
  CHECK(read.frames[3].length == 0);
  CHECK(read.malformed == 4);
  CHECK_THAT(read.problems,
             Contains("comments 1") && Contains("events 1") && Contains("messages 1"));
}

TEST_CASE("text logs from the field", "[text_logs]") {
  const auto folder = test::shared_path("field");
  if (!folder) return;
  const ReadForm busmaster_log = read_form(file::ByteReader(*folder / "busmaster.log"));
  CHECK(busmaster_log.format == "busmaster");
  REQUIRE(busmaster_log.frames.size() == 3);
  CHECK(near(busmaster_log.frames[0].time, kBegan + 1.1667));
  CHECK(busmaster_log.frames[2].extended);
  CHECK(busmaster_log.malformed == 0);
  const ReadForm crtd = read_form(file::ByteReader(*folder / "savvy_crtd.txt"));
  CHECK(crtd.format == "crtd");
  CHECK(crtd.frames.size() == 37);
  CHECK(crtd.malformed == 1);  // the file is cut inside its last row
}

}  // namespace
}  // namespace kdgat::data
