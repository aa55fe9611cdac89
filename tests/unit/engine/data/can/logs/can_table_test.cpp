// Tables of CAN frames with a header, in the names and habits of many tools.
#include "engine/data/can/logs/can_table.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "engine/data/can/logs/can_log.h"
#include "support/can/log_text.h"
#include "support/can/read_table.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::data_error;

using test::read_bytes;
using test::read_table;
using test::ReadTable;

TEST_CASE("flags of a row mean what they say", "[can_table]") {
  const ReadTable read = read_table(
      "timestamp,arbitration_id,extended,remote,error,dlc,data\n"
      "1.0,0x123,0,0,0,8,AQIDBAUGBwg=\n"
      "1.1,0x123,1,0,0,3,AQID\n"
      "1.2,0x124,0,1,0,5,\n"
      "1.3,0x0,0,0,1,0,\n"
      "1.4,0x1001,0,0,0,0,\n");
  REQUIRE(read.frames.size() == 3);
  CHECK(read.frames[0].length == 8);
  CHECK(read.frames[0].payload[7] == 8);
  CHECK_FALSE(read.frames[0].extended);
  CHECK(read.frames[1].extended);
  CHECK(read.frames[2].remote);
  CHECK(read.frames[2].remote_length == 5);
  CHECK(read.malformed == 1);
  CHECK_THAT(read.problems, Contains("log:6: the id is beyond the 11 bits that the row says"));
  CHECK_THAT(read.problems, Contains("1 error frame is counted"));
}

TEST_CASE("words of a direction that nobody knows are counted", "[can_table]") {
  const std::string header = "time,id,direction,data\n";
  const ReadTable known = read_table(header +
                                     "1.0,100,Tx,01\n1.1,100,rx,02\n1.2,100,OUT,03\n"
                                     "1.3,100,receive,04\n1.4,100,,05\n1.5,100,1,06\n");
  std::string sent;
  for (const CanFrame& frame : known.frames) sent += frame.tx ? 'T' : 'R';
  CHECK(sent == "TRTRRT");
  CHECK_THAT(known.problems, !Contains("direction"));
  const ReadTable odd = read_table(header + "1.0,100,Tx,01\n1.1,100,up,02\n1.2,100,trunk,03\n");
  CHECK(odd.frames.size() == 3);
  CHECK_THAT(odd.problems, Contains("2 rows have a direction that is neither Rx nor Tx"));
}

TEST_CASE("a length that its payload has not makes a row malformed", "[can_table]") {
  const ReadTable read = read_table(
      "timestamp,arbitration_id,data_field,dlc,attack\n1,07F,00C3,2,0\n2,07F,C3,2,1\n"
      "3,07F,00C3,1,0\n");
  CHECK(read.frames.size() == 1);
  CHECK(read.malformed == 2);
  CHECK_THAT(read.problems, Contains("log:3: the length does not agree with the payload"));
}

TEST_CASE("the unit of an option is not contradicted", "[can_table]") {
  const std::string text =
      "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2,D3,D4,D5,D6,D7,D8\n"
      "166064000,00000100,false,Rx,0,1,01,,,,,,,\n166065000,00000100,false,Rx,0,1,02,,,,,,,\n";
  CHECK_THAT(read_table(text).problems, Contains("as GVRET writes them"));
  LogReading reading;
  reading.time_unit = "ms";
  CHECK_THAT(read_table(text, "auto", reading).problems, !Contains("GVRET"));
}

TEST_CASE("what says how long ids are leaves no doubt about them", "[can_table]") {
  CHECK(read_table("time,id,extended,dlc,data\n1.0,100,0,1,11\n1.1,18000001,1,1,11\n")
            .problems.empty());
  std::string hcrl;
  for (const char* id : {"848", "1072", "1087"}) hcrl += "1.0," + std::string(id) + ",1,11,R\n";
  CHECK_THAT(read_table(hcrl).problems, Contains("none has a letter, and 3 would need 29 bits"));
  CHECK_THAT(read_table(hcrl + "1.1,04B1,1,11,R\n").problems, !Contains("29 bits"));
}

TEST_CASE("kinds of frames in the words of tools", "[can_table]") {
  const ReadTable read = read_table(
      "time,id,type,format,dlc,data\n1.0,1AB,Data Frame,Standard Frame,1,00\n"
      "1.1,1AB,Remote Frame,Extended Frame,2,\n1.2,1AB,Data,EFF,1,00\n1.3,1AB,CAN FD,SFF,1,00\n");
  CHECK(read.malformed == 0);
  REQUIRE(read.frames.size() == 4);
  CHECK((read.frames[1].remote && read.frames[1].extended && read.frames[1].remote_length == 2));
  CHECK(read.frames[2].extended);
  CHECK((read.frames[3].fd && !read.frames[3].extended));
}

TEST_CASE("bytes behind a gap or the length of a row are no padding", "[can_table]") {
  const ReadTable read = read_table(
      "Time,ID,DLC,D0,D1,D2,D3\n1.0,1AB,4,11,22,33,44\n1.1,1AB,2,11,22,33,44\n"
      "1.2,1AB,2,11,22,00,00\n1.3,1AB,2,11,22,,\n1.4,1AB,1,11,,33,44\n");
  CHECK(read.frames.size() == 3);
  CHECK(read.malformed == 2);
  CHECK_THAT(read.problems, Contains("log:3: the length does not agree with the payload"));
  const ReadTable gap = read_table("Time,ID,D0,D1,D2,D3\n1.0,1AB,11,22,33,44\n1.1,1AB,11,,33,44\n");
  CHECK(gap.frames.size() == 1);
  CHECK(gap.malformed == 1);
}

TEST_CASE("of several columns of one kind that with the plainer name counts", "[can_table]") {
  const ReadTable read = read_table(
      "ID,Time,Timestamp,CAN ID,Data\n0,0.0,1700000000.0,C9,00\n1,0.1,1700000000.1,130,00\n");
  REQUIRE(read.frames.size() == 2);
  CHECK(read.frames[0].id == 0xC9);
  CHECK(read.frames[0].time == 1700000000.0);
  CHECK_THAT(read.problems, Contains("column ID is not used") && Contains("column Time is not"));
  std::string rows = "ID,Timestamp,Data\n";
  for (int i = 0; i < 20; ++i) rows += std::to_string(i) + "," + std::to_string(i) + ".5,00\n";
  CHECK_THAT(read_table(rows).problems, Contains("column ID counts the rows"));
}

TEST_CASE("ids that the first rows do not tell are asked for at the end", "[can_table]") {
  for (const std::string header : {"Time,ID,DLC,Data\n", "timestamp,arbitration_id,data_field\n"}) {
    const std::string middle = header.find("DLC") == std::string::npos ? ",00\n" : ",1,00\n";
    std::string log = header;
    for (int i = 0; i < 700; ++i) log += std::to_string(i) + ".0,201" + middle;
    CHECK_THAT(read_table(log).problems, !Contains("hexadecimal"));
    CHECK_THAT(read_table(log + "701.0,848" + middle + "702.0,1349" + middle).problems,
               Contains("ids are read as hexadecimal, though none has a letter, and 2 would need"));
    CHECK_THAT(read_table(log + "701.0,84A" + middle + "702.0,1349" + middle).problems,
               !Contains("hexadecimal"));
  }
}

TEST_CASE("spreadsheets and analysers write numbers in their own way", "[can_table]") {
  const ReadTable comma =
      read_table("sep=;\nTime;ID;DLC;Data\n0,010000;1A2h;2;E C7\n\"0,020000\";130h;3;0E C7 1\n");
  CHECK(comma.malformed == 0);
  REQUIRE(comma.frames.size() == 2);
  CHECK(comma.frames[0].time == 0.01);
  CHECK(comma.frames[0].id == 0x1A2);
  CHECK(comma.frames[0].payload[0] == 0x0E);
  CHECK(comma.frames[1].payload[2] == 0x01);
  for (const std::string micro : {"\xC2\xB5", "\xCE\xBC", "u"}) {
    const ReadTable read =
        read_table("Time (" + micro + "s),ID,Data\n10000,1AB,00\n20000,1AB,00\n");
    REQUIRE(read.frames.size() == 2);
    CHECK(read.frames[0].time == 0.01);
  }
  const ReadTable zeros = read_table(
      "timestamp,arbitration_id,extended,remote,error,dlc,data\n1.0,0x123,0,0,0,3,AAAA\n"
      "1.1,0x123,0,0,0,6,AAAAAAAA\n");
  CHECK(zeros.malformed == 0);
  REQUIRE(zeros.frames.size() == 2);
  CHECK(zeros.frames[1].length == 6);
  CHECK(zeros.frames[1].payload[0] == 0);
}

TEST_CASE("a log without columns says that their options are not used", "[can_table]") {
  const std::string log = "(1.0) can0 100#01\n(1.1) can0 100#02\n";
  CHECK_THAT(read_table(log, "auto", {.label_column = "x", .benign = {"y"}}).problems,
             Contains("label_column and benign: not used, as this log has no columns with names"));
  CHECK(read_table(log).problems.empty());
}

TEST_CASE("a row with fewer bytes may have its label behind the last", "[can_table]") {
  const ReadTable read = read_table(
      "Timestamp,CAN ID,DLC,DATA[0],DATA[1],DATA[2],Flag\n"
      "1.0,0316,3,05,21,68,R\n1.1,05f0,2,01,00,T,\n1.2,05f0,1,01,R\n");
  REQUIRE(read.frames.size() == 3);
  CHECK(read.frames[0].payload[2] == 0x68);
  CHECK(read.frames[1].length == 2);
  CHECK(read.frames[1].label == 1);
  CHECK(read.frames[2].length == 1);
  CHECK(read.frames[2].label == 0);
}

TEST_CASE("ids without a letter that would need 29 bits are decimal, and that is said",
          "[can_table]") {
  const std::string text = "timestamp,can_id,data\n1,852,00\n2,1413,00\n";
  const ReadTable read = read_table(text);
  REQUIRE(read.frames.size() == 2);
  CHECK(read.frames[1].id == 1413);
  CHECK_FALSE(read.frames[1].extended);
  CHECK_THAT(read.problems, Contains("ids are read as decimal") &&
                                Contains("format=can-train-and-test reads them as hexadecimal"));
  CHECK(read_table(text, "can-train-and-test").frames[1].id == 0x1413);
  CHECK(read_table("timestamp,can_id,data\n1,852,00\n2,1F0,00\n").frames[0].id == 0x852);
  const ReadTable bytes = read_table(
      "ID,DATA_0,DATA_1,DATA_2,DATA_3,DATA_4,DATA_5,DATA_6,DATA_7,label\n"
      "65,96,0,132,0,0,0,0,7,BENIGN\n");
  REQUIRE(bytes.frames.size() == 1);
  CHECK(bytes.frames[0].id == 65);
  CHECK(bytes.frames[0].payload[2] == 132);
  CHECK(std::isnan(bytes.frames[0].time));
}

TEST_CASE("semicolons, tabs and quotes divide columns, and a bus is a channel", "[can_table]") {
  const ReadTable semicolons = read_table(
      "TimestampEpoch;BusChannel;ID;IDE;DLC;DataLength;Dir;EDL;BRS;ESI;RTR;DataBytes\n"
      "1594718410.5;1;71D;0;9;12;1;1;1;0;0;000102030405060708090A0B\n");
  REQUIRE(semicolons.frames.size() == 1);
  const CanFrame& fd = semicolons.frames[0];
  CHECK((fd.fd && fd.tx));
  CHECK(std::array<int, 3>{fd.channel, fd.fd_flags, fd.length} == std::array<int, 3>{1, 1, 12});
  const ReadTable tabs = read_table(
      "Index\tDirection\tTimestamp\tID\tFormat\tType\tLength\tData\t\n"
      "0\tReceive\t 23:59:59.500.0\t0x1cebff00\tData\tExtend\t2\tB7 0E \t\n"
      "1\tSend\t 00:00:00.250.0\t0x123\tRemote\tStandard\t2\t\t\n");
  REQUIRE(tabs.frames.size() == 2);
  CHECK(tabs.frames[0].time == 86399.5);
  CHECK(tabs.frames[0].extended);
  CHECK(tabs.frames[1].time == 86400.25);
  CHECK(tabs.frames[1].remote);
  CHECK(tabs.frames[1].tx);
  CHECK_THAT(tabs.problems, Contains("column Index is not used"));
  const ReadTable quotes = read_table("\"time\",\"id\",\"data\"\n\"1.5\",\"1A0\",\"00-11\"\n");
  REQUIRE(quotes.frames.size() == 1);
  CHECK(quotes.frames[0].payload[1] == 0x11);
}

TEST_CASE("dates are read with their zone", "[can_table]") {
  const ReadTable read = read_table(
      "timestamp,id,data\n2021-03-01 10:00:00.100,3A6,00\n2021-03-01T11:00:00.2+01:00,3A6,00\n");
  REQUIRE(read.frames.size() == 2);
  CHECK(read.frames[0].time == Approx(1614592800.1).epsilon(1e-15));
  CHECK(read.frames[1].time == Approx(1614592800.2).epsilon(1e-15));
}

TEST_CASE("the order of columns changes no frame, and every row is a frame or reported",
          "[can_table]") {
  const std::vector<std::string> names = {"timestamp", "id", "data", "dlc", "label", "bus"};
  const std::vector<std::vector<std::string>> rows = {{"1.0", "1A0", "0011", "2", "0", "0"},
                                                      {"1.1", "1A1", "00", "2", "1", "1"},
                                                      {"1.2", "18FEF100", "", "0", "1", "2"},
                                                      {"x", "1A0", "00", "1", "0", "0"}};
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    const auto line = [&](const std::vector<std::string>& cells) {
      std::string out;
      for (const std::size_t one : order) out += (out.empty() ? "" : ",") + cells[one];
      return out + "\n";
    };
    // An empty first cell would be joined without its comma.
    std::string text = line(names);
    for (const auto& row : rows) {
      if (row[order[0]].empty()) text += ",";
      text += line(row);
    }
    CanLog log(file::ByteReader("log", text), "auto", false);
    CanFrame frame;
    std::vector<CanFrame> frames;
    while (log.next(frame)) frames.push_back(frame);
    REQUIRE(log.rows() + log.malformed() == std::ssize(rows));
    REQUIRE(frames.size() == 2);
    REQUIRE(frames[0].time == 1.0);
    REQUIRE(frames[0].id == 0x1A0);
    REQUIRE(frames[0].payload[1] == 0x11);
    REQUIRE(frames[1].extended);
    REQUIRE(frames[1].channel == 2);
    REQUIRE(frames[1].label == 1);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a table without a column that frames need is refused by name", "[can_table]") {
  CHECK_THAT(data_error([] { read_table("timestamp;id;label\n1;1A0;0\n"); }),
             Contains("log:1: column data_field is missing"));
  CHECK_THAT(data_error([] { read_table("id,d1,d2,label\n1A0,00,11,0\n"); }),
             Contains("log:1: column timestamp is missing"));
}

TEST_CASE("the attack-free text of HCRL is read", "[can_table]") {
  const ReadTable read = read_table(
      "Timestamp: 1479121434.850202        ID: 0350    000    DLC: 2    00 02\n"
      "Timestamp: 1479121435.0        ID: 02c0    100    DLC: 0\n");
  CHECK(read.format == "hcrl-text");
  REQUIRE(read.frames.size() == 2);
  CHECK(read.frames[0].payload[1] == 2);
  CHECK(read.frames[1].remote);
}

TEST_CASE("HCRL rows may have 0 and 1 as flags", "[can_table]") {
  const ReadTable read = read_table("1.0,0316,2,05,21,0\n1.1,05f0,1,01,1\n");
  REQUIRE(read.frames.size() == 2);
  CHECK(read.frames[0].label == 0);
  CHECK(read.frames[1].label == 1);
}

struct FieldTable {
  const char* name;
  std::size_t frames;
  int64_t malformed;
  int attacks;
};

TEST_CASE("tables of the field are read", "[can_table]") {
  const auto folder = test::shared_path("field");
  if (!folder) return;
  const FieldTable tables[] = {{"csv_0x.csv", 3, 0, 1},         {"csv_bus.csv", 3, 0, 1},
                               {"csv_cabana_new.csv", 3, 0, 0}, {"csv_carchallenge.csv", 5, 0, 1},
                               {"csv_ciciov.csv", 3, 0, 1},     {"csv_class_nospace.csv", 3, 0, 1},
                               {"csv_css.csv", 2, 0, 0},        {"csv_dup_label.csv", 2, 0, 1},
                               {"csv_iso.csv", 2, 0, 1},        {"csv_kaggle_hcrl.csv", 4, 0, 1},
                               {"csv_pythoncan.csv", 3, 0, 0},  {"csv_quoted.csv", 2, 0, 1},
                               {"csv_textlabel.csv", 3, 0, 1},  {"csv_tflabel.csv", 3, 0, 1},
                               {"hcrl_normal.txt", 13, 0, 0},   {"bcan_label01.csv", 3, 0, 1},
                               {"usbcan_tool.txt", 120, 0, 0},  {"csv_gvret2.csv", 3, 0, 0},
                               {"csv_decid.csv", 4, 0, 1},      {"csv_dlc_lost.csv", 1, 3, 0},
                               {"savvy_gvret.csv", 36, 1, 0}};
  for (const FieldTable& table : tables) {
    INFO(table.name);
    const ReadTable read = read_bytes(file::ByteReader(*folder / table.name));
    INFO(read.problems);
    CHECK(read.frames.size() == table.frames);
    CHECK(read.malformed == table.malformed);
    CHECK(std::count_if(read.frames.begin(), read.frames.end(),
                        [](const CanFrame& one) { return one.label == 1; }) == table.attacks);
  }
}

TEST_CASE("docs/data.md has the names of columns that are read", "[can_table][docs]") {
  constexpr std::array kWords = {"time",
                                 "id",
                                 "payload",
                                 "",
                                 "DLC",
                                 "length in bytes",
                                 "direction",
                                 "bus",
                                 "extended",
                                 "remote",
                                 "error",
                                 "CAN FD",
                                 "faster bytes",
                                 "error state",
                                 "kind of frame, in words",
                                 "label",
                                 "kind of attack"};
  const std::string docs = test::read_text("docs/data.md");
  std::string table = "| column | names |\n|---|---|\n";
  for (const ColumnNames& one : column_names()) {
    std::string row = "| " + std::string(kWords[static_cast<std::size_t>(one.column)]) + " | ";
    for (const std::string_view name : one.names) {
      row += (row.ends_with("| ") ? "`" : ", `") + std::string(name) + "`";
    }
    table += row + " |\n";
  }
  CHECK_THAT(docs, Contains(table + "| a byte | "));
}

}  // namespace
}  // namespace kdgat::data
