#include "engine/data/can/logs/can_log.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "support/can/log_text.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

using test::data_error;

struct Read {
  std::string format;
  std::vector<CanFrame> frames;
  int64_t malformed = 0;
  std::string problems;
};

Read read_log(file::ByteReader bytes, const std::string& format = "auto", bool strict = false) {
  CanLog log(std::move(bytes), format, strict);
  Read out;
  out.format = log.format();
  CanFrame frame;
  while (log.next(frame)) out.frames.push_back(frame);
  CHECK(log.rows() == static_cast<int64_t>(out.frames.size()));
  out.malformed = log.malformed();
  for (const Diagnostic& problem : log.problems()) out.problems += problem.text() + "\n";
  return out;
}

Read read_text(const std::string& text, const std::string& format = "auto", bool strict = false) {
  return read_log(file::ByteReader("log", text), format, strict);
}

std::string payload(const CanFrame& frame) {
  std::string out;
  for (std::size_t i = 0; i < frame.length; ++i) {
    out += "0123456789ABCDEF"[frame.payload[i] >> 4];
    out += "0123456789ABCDEF"[frame.payload[i] & 15];
  }
  for (std::size_t i = frame.length; i < frame.payload.size(); ++i) CHECK(frame.payload[i] == 0);
  return out;
}

/// The only frame of a log of one row.
CanFrame one(const std::string& text, const std::string& format = "auto") {
  const Read read = read_text(text, format);
  INFO(read.problems);
  REQUIRE(read.frames.size() == 1);
  CHECK(read.malformed == 0);
  return read.frames[0];
}

const std::string kHead = "timestamp,arbitration_id,data_field,attack\n";

TEST_CASE("can-train-and-test rows are read with and without labels", "[can_log]") {
  const Read read = read_text(kHead +
                              "1672531200.0,1E5,460196E001FE6701,0\n"
                              "1672531200.0000231,1e9,0010000c,1\n"
                              "1672531201,7FF,,1\n"
                              "1672531202.5,18FEF100,FF,0\n");
  CHECK(read.format == "can-train-and-test");
  REQUIRE(read.frames.size() == 4);
  CHECK(read.problems.empty());
  CHECK(read.frames[0].time == 1672531200.0);
  CHECK(read.frames[1].time == 1672531200.0000231);
  CHECK(read.frames[0].id == 0x1E5);
  CHECK(read.frames[1].id == 0x1E9);
  CHECK(payload(read.frames[0]) == "460196E001FE6701");
  CHECK(payload(read.frames[1]) == "0010000C");
  CHECK(payload(read.frames[2]).empty());
  CHECK(read.frames[0].label == 0);
  CHECK(read.frames[2].label == 1);
  CHECK(read.frames[3].id == 0x18FEF100);
  CHECK(read.frames[3].extended);
  CHECK_FALSE(read.frames[0].extended);
  CHECK(one("timestamp,arbitration_id,data_field\n1.5,156,0080\n").label == -1);
}

TEST_CASE("columns are found by name, else by position", "[can_log]") {
  const CanFrame frame = one("attack,data,id,time\n1,AABB,123,7.5\n");
  CHECK(frame.time == 7.5);
  CHECK(frame.id == 0x123);
  CHECK(payload(frame) == "AABB");
  CHECK(frame.label == 1);
  CHECK(one("when,who,what,why\n7.5,123,AABB,1\n").id == 0x123);
  CHECK(one("\"timestamp\", Arbitration_ID ,data_field,ATTACK\n7.5,123,AABB,1\n").label == 1);
}

TEST_CASE("a forced form reads a log without a header from its first row", "[can_log]") {
  const Read read = read_text("1.0,1E5,46,1\n2.0,1E6,47,0\n", "can-train-and-test");
  REQUIRE(read.frames.size() == 2);
  CHECK(read.frames[0].label == 1);
  CHECK(one("1.0,1E5,46\n", "can-train-and-test").label == -1);
  CHECK(one("Timestamp,ID,DLC,Data,Flag\n1.0,01E5,1,46,T\n", "hcrl").label == 1);
}

TEST_CASE("hcrl rows have as many bytes as their DLC says", "[can_log]") {
  const Read read = read_text(
      "1513920236.608807,0189,7,8F,FF,0F,FF,2F,FF,2D,R\n"
      "1513920236.609048,34c,8,EA,9e,0F,FE,03,FC,00,0C,T\n"
      "1513920236.7, 05F0, 2, 01, 00, R\n"
      "1513920236.8,05F0,0,R\n"
      "1513920236.9,05F0,1,AA\n");
  CHECK(read.format == "hcrl");
  INFO(read.problems);
  REQUIRE(read.frames.size() == 5);
  CHECK(payload(read.frames[0]) == "8FFF0FFF2FFF2D");
  CHECK(read.frames[0].label == 0);
  CHECK(read.frames[1].id == 0x34C);
  CHECK(payload(read.frames[1]) == "EA9E0FFE03FC000C");
  CHECK(read.frames[1].label == 1);
  CHECK(payload(read.frames[2]) == "0100");
  CHECK(payload(read.frames[3]).empty());
  CHECK(read.frames[3].label == 0);
  CHECK(read.frames[4].label == -1);
}

TEST_CASE("hcrl rows may be filled up to eight bytes", "[can_log]") {
  const Read read = read_text(
      "1.0,0130,2,0e,c7,00,00,00,00,00,00,R\n1.1,0131,2,0e,c7,00,00,00,00,00,00,T\n"
      "1.2,0132,2,0e,c7,,,,,,,R\n1.3,0133,8,00,00,00,00,00,00,00,00,T\n");
  INFO(read.problems);
  REQUIRE(read.frames.size() == 4);
  CHECK(payload(read.frames[0]) == "0EC7");
  CHECK((read.frames[0].label == 0 && read.frames[1].label == 1 && read.frames[2].label == 0));
  CHECK(payload(read.frames[3]) == "0000000000000000");
  const Read bare =
      read_text("1.0,0130,2,0e,c7,00,00,00,00,00,00\n1.1,0131,8,0e,c7,00,00,00,00,00,1\n");
  CHECK(bare.frames.size() == 1);
}

TEST_CASE("candump -e explains an error frame in lines of their own", "[can_log]") {
  const Read read = read_text(
      " (1.00)  can0  123   [2]  00 01\n"
      " (1.04)  can0  20000088   [8]  00 00 19 00 00 00 00 00   ERRORFRAME\n"
      "\tprotocol-violation{{}{acknowledge-slot}}\n\tbus-error\n"
      " (1.05)  can0  123   [2]  00 02\n");
  CHECK(read.frames.size() == 2);
  CHECK(read.malformed == 0);
  CHECK_THAT(read.problems, Catch::Contains("1 error frame is counted"));
}

TEST_CASE("candump -L has classic, extended, FD and remote frames", "[can_log]") {
  const Read read = read_text(
      "(1436509052.249713) vcan0 044#2A366C2BBA\n"
      "(1436509052.449847) vcan0 0CF00400#f07de1\n"
      "(1436509052.5) can1 123##1" +
      std::string(128, 'A') +
      "\n"
      "(1436509052.6) can1 123#R\n"
      "(1436509052.7) can1 123#R8\n"
      "(1436509052.8) can1 123#\n"
      "(1436509052.9) can1 00000123#11 R\n"
      "  (1436509053.0)\tcan1  123##0   \n");
  CHECK(read.format == "candump");
  INFO(read.problems);
  REQUIRE(read.frames.size() == 8);
  CHECK(read.frames[0].id == 0x44);
  CHECK(payload(read.frames[0]) == "2A366C2BBA");
  CHECK(read.frames[0].label == -1);
  CHECK(read.frames[1].id == 0x0CF00400);
  CHECK(read.frames[1].extended);
  CHECK(payload(read.frames[1]) == "F07DE1");
  CHECK(read.frames[2].fd);
  CHECK(read.frames[2].length == 64);
  CHECK(read.frames[2].payload[63] == 0xAA);
  CHECK(read.frames[3].remote);
  CHECK(read.frames[4].remote);
  CHECK(read.frames[4].length == 0);
  CHECK(read.frames[5].length == 0);
  CHECK(read.frames[6].id == 0x123);
  CHECK(read.frames[6].extended);
  CHECK(read.frames[7].fd);
}

TEST_CASE("the candump screen form may have no bytes and no time", "[can_log]") {
  const Read read = read_text(
      " (008.630315)  can0  0CF00400   [8]  00 7D 83 AA 16 00 0F 83\n"
      " (008.7)  can0  123   [0]\n"
      "  can0  1F4   [2]  aB Cd\n"
      " (008.8)  can0  123   [2]  remote request\n"
      " (008.9)  can0  123   [3]  41 42 43   'ABC'\n"
      " (009.0)  can0  123  [12]  00 01 02 03 04 05 06 07 08 09 0A 0B\n");
  CHECK(read.format == "candump-screen");
  INFO(read.problems);
  REQUIRE(read.frames.size() == 6);
  CHECK(read.frames[0].time == 8.630315);
  CHECK(payload(read.frames[0]) == "007D83AA16000F83");
  CHECK(read.frames[0].extended);
  CHECK(read.frames[1].length == 0);
  CHECK(std::isnan(read.frames[2].time));
  CHECK(payload(read.frames[2]) == "ABCD");
  CHECK(read.frames[3].remote);
  CHECK(payload(read.frames[4]) == "414243");
  CHECK(read.frames[5].fd);
  CHECK(read.frames[5].length == 12);
}

TEST_CASE("the published forms of single data sets are read", "[can_log]") {
  SECTION("road: decimal, no time") {
    const CanFrame frame = one("852,32,10,0,0,0,2,116,128,1.0\n");
    CHECK(std::isnan(frame.time));
    CHECK(frame.id == 852);
    CHECK(payload(frame) == "200A000000027480");
    CHECK(frame.label == 1);
  }
  SECTION("daga: the length counts bits") {
    const std::string head = "timestamp,CAN_ID,DLC,PAYLOAD_HEX,PAYLOAD_BIN,ANOMALY\n";
    CHECK(payload(one(head + "9e-06,1D0,16,0061,0000000001100001,False\n")) == "0061");
    CHECK(one(head + "1,1D0,8,61,01100001,TRUE\n").label == 1);
    CHECK(one(head + "1,290.0,8,61,01100001,true\n").id == 0x290);
    CHECK(read_text(head + "1,1D0,7,61,01100001,False\n").malformed == 1);
  }
  SECTION("otids: id 0 is the attack, whatever the label says") {
    const std::string head =
        "Time,IntID1,IntID2,DLC,IntData1,IntData2,IntData3,IntData4,IntData5,IntData6,IntData7,"
        "IntData8,Label\n";
    CHECK(one(head + "15.6,128,0,8,0,23,72,10,33,26,33,77,1\n").label == 0);
    CHECK(one(head + "15.6,0,0,3,1,2,3,0,0,0,0,0,0\n").label == 1);
    CHECK(payload(one(head + "15.6,0,0,3,1,2,3,9,9,9,9,9,0\n")) == "010203");
  }
  SECTION("crysys: either column marks an attack") {
    CHECK(one("(0.000000) can0 110#02202e13 False\tFalse\n").label == 0);
    CHECK(one("(0.000000) can0 110#02202e13 True\tFalse\n").label == 1);
    CHECK(one("(0.000000) can0 110#02202e13 False\tTRUE\n").label == 1);
    CHECK(one("(0.000000) can0 110#02202e13 1\tFalse\n").label == 1);
  }
  SECTION("recan: binary digits") {
    const CanFrame frame = one("1532612950.492784,can0,0EE,2,0001000011110001\n");
    CHECK(payload(frame) == "10F1");
    CHECK(frame.label == -1);
  }
}

TEST_CASE("line ends, a byte order mark, blank lines and gzip change nothing", "[can_log]") {
  const test::ScratchFolder folder;
  const std::string text = kHead + "1.5,1E5,46,0\n2.5,1E6,47,1\n";
  std::string dos = "\xEF\xBB\xBF" + text;
  for (std::size_t at = 0; (at = dos.find('\n', at)) != std::string::npos; at += 2) {
    dos.insert(at, 1, '\r');
  }
  test::write_gzip(folder / "packed.csv.gz", text);
  test::write_text(folder / "plain.csv", text);
  const auto same = [](const Read& read) {
    REQUIRE(read.frames.size() == 2);
    CHECK(read.problems.empty());
    CHECK(read.frames[0].id == 0x1E5);
    CHECK(read.frames[1].time == 2.5);
    CHECK(read.frames[1].label == 1);
  };
  same(read_text(text));
  same(read_text(dos));
  same(read_text(text.substr(0, text.size() - 1)));
  same(read_text("\n  \n" + text + "\n\n"));
  same(read_log(file::ByteReader(folder / "packed.csv.gz")));
  same(read_log(file::ByteReader(folder / "plain.csv")));
  const test::StandardInput input(folder / "packed.csv.gz");
  same(read_log(file::ByteReader("-")));
}

TEST_CASE("spaces around fields and both cases of digits are allowed", "[can_log]") {
  const CanFrame frame = one(kHead + " 1.5 ,\t1e5, aAbB , 1 \n");
  CHECK(frame.id == 0x1E5);
  CHECK(payload(frame) == "AABB");
  CHECK(frame.label == 1);
}

TEST_CASE("malformed rows are counted and the first are shown with their line", "[can_log]") {
  const auto fault = [](const std::string& row) {
    const Read read = read_text(kHead + "1,123,00,0\n" + row + "\n");
    CHECK(read.frames.size() == 1);
    CHECK(read.malformed == 1);
    CHECK(data_error([&] { read_text(kHead + row + "\n", "auto", true); }) ==
          "log:2: " + read.problems.substr(7, read.problems.size() - 8));
    return read.problems;
  };
  CHECK(fault("1,123,00,-1") ==
        "log:3: the label is no class number: 0 is benign, 1 and more are attacks: 1,123,00,-1\n");
  CHECK(fault("1,xyz,00,0") == "log:3: the id is not hexadecimal: 1,xyz,00,0\n");
  CHECK(fault("1,,00,0") == "log:3: the id is not hexadecimal: 1,,00,0\n");
  CHECK(fault("1,20000000,00,0") == "log:3: the id is beyond 29 bits: 1,20000000,00,0\n");
  CHECK(fault("1,FFFFFFFFFFFFFFFFFFFF,00,0") ==
        "log:3: the id is beyond 29 bits: 1,FFFFFFFFFFFFFFFFFFFF,00,0\n");
  CHECK(fault("1,123,001122334455667788,0") ==
        "log:3: the payload is over 8 bytes: 1,123,001122334455667788,0\n");
  CHECK(fault("1,123,0G,0") == "log:3: the payload is not hexadecimal: 1,123,0G,0\n");
  CHECK(fault("1,123,000,0") == "log:3: the payload has an odd number of digits: 1,123,000,0\n");
  CHECK(fault("one,123,00,0") == "log:3: the time is not a number: one,123,00,0\n");
  CHECK(fault("nan,123,00,0") == "log:3: the time is not a number: nan,123,00,0\n");
  CHECK(fault("1,123") == "log:3: too few fields: 1,123\n");
  CHECK(fault("1,123,00,0,0") == "log:3: too many fields: 1,123,00,0,0\n");
  CHECK(read_text("(1) can0 123##0" + std::string(130, '0') + "\n", "candump")
            .problems.find("log:1: the payload is over 64 bytes") == 0);

  std::string many = kHead + "1,123,00,0\n";
  for (int i = 0; i < 9; ++i) many += "bad\n";
  const Read read = read_text(many);
  CHECK(read.malformed == 9);
  CHECK_THAT(read.problems, Catch::EndsWith("log:7: too few fields: bad\nlog: 4 more such lines (9 "
                                            "malformed rows in all)\n"));
}

TEST_CASE("bytes of a log that are not text do not reach the terminal", "[can_log]") {
  CHECK(read_text(kHead + "1,123,00,0\n\xff\x1b[31mred,1\n").problems ==
        "log:3: too few fields: ??[31mred,1\n");
  CHECK(data_error([] { read_text("time,\x1b[2J" + std::string(99, 'x') + "\n"); }) ==
        "log:1: column arbitration_id is missing\n  hint: the header is: time,?[2J" +
            std::string(51, 'x') + "...");
}

TEST_CASE("files that are no log are refused with the reason", "[can_log]") {
  CHECK(data_error([] { read_text(""); }) == "log: the file is empty");
  CHECK(data_error([] { read_text("\n \n"); }) == "log: the file is empty");
  CHECK_THAT(data_error([] { read_text("timestamp,data_field,attack\n1,00,0\n"); }),
             Catch::StartsWith("log:1: column arbitration_id is missing"));
  CHECK_THAT(data_error([] { read_text("timestamp,id,attack\n1,00,0\n"); }),
             Catch::StartsWith("log:1: column data_field is missing"));
  CHECK_THAT(data_error([] { read_text("hello world\n"); }),
             Catch::StartsWith("log:1: no known log form fits the first line: hello world\n"
                               "  hint: format=NAME"));
  CHECK(test::error_of([] { read_text("1\n", "doc"); }, ExitCode::kUsage) ==
        "no log format is called doc");
}

TEST_CASE("time may step back a little, and a fall is another capture", "[can_log]") {
  CanLog log(
      file::ByteReader("log", kHead + "10,1,00,0\n9.995,1,00,0\n9.5,1,00,0\n2,1,00,0\n3,1,00,0\n"),
      "auto", false);
  CanFrame frame;
  std::vector<bool> restarts;
  while (log.next(frame)) restarts.push_back(log.restarted());
  CHECK(restarts == std::vector<bool>{false, false, false, true, false});
  CHECK(log.small_steps_back() == 1);
  REQUIRE(log.problems().size() == 2);
  CHECK(log.problems()[0].text() == "log:4: time goes backwards by 0.495000 s");
  CHECK(log.problems()[1].text() ==
        "log:5: time falls back by 7.500000 s: taken as the start of another capture");
  CHECK(data_error([] { read_text(kHead + "10,1,00,0\n9.5,1,00,0\n", "auto", true); }) ==
        "log:3: time goes backwards by 0.500000 s");
}

struct RealLog {
  const char* path;
  const char* format;
  int64_t rows, labelled, attacks;
  std::size_t ids;
  uint32_t least, most;
};

// Counted from the files by other means.
const RealLog kRealLogs[] = {
    {"can-train-and-test/DoS-1.rows0-80000.csv.gz", "can-train-and-test", 80000, 80000, 9139, 52, 0,
     0x77f},
    {"can-train-and-test/subaru-forester_accessory-1.csv.gz", "can-train-and-test", 24698, 0, 0, 13,
     0x152, 0x6d1},
    {"candump/canids_recording1.rows0-7500.log.gz", "candump", 7500, 0, 0, 13, 0x64, 0x405},
    {"candump/icsim_sample-can.log.gz", "candump", 6158, 0, 0, 34, 0x39, 0x5a1},
    {"crysys/S-1-1-malicious-CONST-msg-mod-0x410-0.4-0.6.log.gz", "crysys", 17935, 17935, 60, 18,
     0x110, 0x531},
    {"daga-volvo-v40/DenialOfService_lowestID_V40_03.rows0-9000.csv.gz", "daga", 9000, 9000, 540,
     50, 0x1, 0x581},
    {"daga-volvo-v40/OrderedSequenceReplay_n_5_V40_03.rows20000-26000.csv.gz", "daga", 6000, 6000,
     50, 50, 0x1, 0x581},
    {"gm-cycraft/Spoofing_steer.rows35000-55000.log.gz", "candump", 20000, 0, 0, 6, 0xf1, 0x510},
    {"hcrl-survival-spark/Fuzzy_dataset_Spark.txt.gz", "hcrl", 65665, 65665, 5812, 1946, 0, 0x7ff},
    {"j1939-truck/dos_1ms.rows6000-20000.log.gz", "candump-screen", 14000, 0, 0, 85, 0, 0x1cfeb300},
    {"j1939-truck/fuzz_1ms_Data_Only.rows7000-20000.log.gz", "candump-screen", 13000, 0, 0, 83,
     0xc010305, 0x1fffffff},
    {"j1939-truck/memory_leak_attack.log.gz", "candump", 2310, 0, 0, 21, 0x8fe6e0b, 0x18fef600},
    {"j1939-truck/normal.rows0-8000.log.gz", "candump-screen", 8000, 0, 0, 85, 0xc000003,
     0x1cfe9200},
    {"otids-int/test.rows35670-55670.csv.gz", "otids", 20000, 20000, 4977, 47, 0, 0x50000},
    {"recan/AlfaGiulia_Exp-3.rows0-8000.csv.gz", "recan", 8000, 0, 0, 76, 0xde, 0x1e360043},
    {"road-masquerade/Deal_correlated_signal_attack_1_masquerade.csv.gz", "road", 73211, 73211,
     2071, 105, 0x6, 0x6fc},
};

TEST_CASE("every published log is recognised and read without a malformed row", "[can_log]") {
  const auto folder = test::shared_path("data/can");
  if (!folder) return;
  for (const RealLog& real : kRealLogs) {
    INFO(real.path);
    const Read read = read_log(file::ByteReader(*folder / real.path));
    INFO(read.problems);
    CHECK(read.format == real.format);
    CHECK(read.malformed == 0);
    CHECK(static_cast<int64_t>(read.frames.size()) == real.rows);
    std::set<uint32_t> ids;
    int64_t labelled = 0, attacks = 0;
    for (const CanFrame& frame : read.frames) {
      ids.insert(frame.id);
      labelled += frame.label >= 0;
      attacks += frame.label == 1;
    }
    CHECK(labelled == real.labelled);
    CHECK(attacks == real.attacks);
    CHECK(ids.size() == real.ids);
    CHECK(*ids.begin() == real.least);
    CHECK(*ids.rbegin() == real.most);
  }
}

}  // namespace
}  // namespace kdgat::data
