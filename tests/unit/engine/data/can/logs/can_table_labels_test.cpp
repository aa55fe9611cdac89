// Labels in tables of CAN frames: columns, words, numbers of classes.
#include <catch2/catch.hpp>

#include "engine/data/can/logs/can_table.h"
#include "support/can/log_text.h"
#include "support/can/read_table.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::data_error;
using test::read_table;
using test::ReadTable;

TEST_CASE("labels are numbers or words, and of two columns that of numbers counts", "[can_table]") {
  const auto labels = [](const std::string& text) {
    std::vector<int> out;
    for (const CanFrame& frame : read_table(text).frames) out.push_back(frame.label);
    return out;
  };
  const std::string head = "Timestamp,Arbitration_ID,Data,";
  CHECK(labels(head + "Class\n1,12A,00,Normal\n2,12A,00,Attack\n") == std::vector<int>{0, 1});
  CHECK(labels(head + "Label\n1,12A,00,Benign\n2,12A,00,DoS\n") == std::vector<int>{0, 1});
  CHECK(labels(head + "attack\n1,12A,00,False\n2,12A,00,True\n") == std::vector<int>{0, 1});
  CHECK(labels(head + "flag\n1,12A,00,T\n2,12A,00,R\n") == std::vector<int>{1, 0});
  const ReadTable two =
      read_table(head + "attack,label\n1,12A,00,Normal,0\n2,12A,00,DoS,1\n3,12A,00,DoS,0\n");
  REQUIRE(two.frames.size() == 3);
  CHECK(two.frames[1].label == 1);
  CHECK(two.frames[2].label == 0);
  CHECK_THAT(two.problems, Contains("the labels of 1 rows disagree with another column"));
  CHECK_THAT(two.problems, Contains("column attack is not used"));
}

/// The labels of a log, in order.
std::string labels_of(const ReadTable& read) {
  std::string out;
  for (const CanFrame& frame : read.frames) out += frame.label < 0 ? "-" : frame.label ? "1" : "0";
  return out;
}

TEST_CASE("words of labels that are no usual ones are named, and an option says what is benign",
          "[can_table]") {
  const std::string log =
      "time,id,data,Class,Driver\n1.0,100,01,Normal,Ann\n1.1,200,02,Gear,Bob\n1.2,100,03,x,Ann\n";
  const ReadTable plain = read_table(log);
  CHECK(labels_of(plain) == "011");
  CHECK_THAT(plain.problems,
             Contains("column Class: words that are taken for attacks: Gear, x") &&
                 Contains("--benign WORD (in a profile data.benign) names the words") &&
                 Contains("column Driver is not used"));
  const ReadTable chosen = read_table(log, "auto", {.benign = {"Normal", "x"}});
  CHECK(labels_of(chosen) == "010");
  CHECK_THAT(chosen.problems, !Contains("words"));
  const ReadTable named = read_table(log, "auto", {.label_column = "Driver", .benign = {"Ann"}});
  CHECK(labels_of(named) == "010");
  const std::string both = "time,id,data,attack,class\n1.0,100,01,0,DoS\n1.1,101,01,1,Normal\n";
  CHECK(labels_of(read_table(both)) == "01");
  CHECK(labels_of(read_table(both, "auto", {.label_column = "class"})) == "10");
  for (const char* needed : {"time", "id", "data"}) {
    CHECK_THAT(data_error([&] { read_table(log, "auto", {.label_column = needed}); }),
               Contains("holds no labels: frames are read from it"));
  }
  CHECK_THAT(named.problems, Contains("the labels of 1 rows disagree with another column: Driver"));
  CHECK_THAT(data_error([&] { read_table(log, "auto", {.label_column = "driver"}); }),
             Contains("log:1: no column is called driver"));
  const ReadTable usual = read_table("time,id,data,label\n1.0,100,01,Attack\n1.1,200,02,T\n");
  CHECK(labels_of(usual) == "11");
  CHECK(usual.problems.empty());
}

TEST_CASE("numbers of classes are attacks, and a row without a label stays a frame",
          "[can_table]") {
  const ReadTable classes =
      read_table("time,id,data,label\n1.0,1AB,00,0\n1.1,1AB,00,1\n1.2,1AB,00,2\n1.3,1AB,00,3.0\n");
  CHECK(labels_of(classes) == "0111");
  CHECK_THAT(classes.problems, Contains("words that are taken for attacks: 2, 3.0"));
  const ReadTable gaps =
      read_table("time,id,data,label\n1.0,1AB,00,\n1.1,1AB,00,DoS\n1.2,1AB,00,-\n1.3,1AB,00,nan\n");
  CHECK(labels_of(gaps) == "-1--");
  CHECK_THAT(gaps.problems, Contains("column label: 3 rows have no label"));
}

TEST_CASE("words that are said to be benign and never come are reported", "[can_table]") {
  const std::string log = "time,id,data,label\n1.0,1AB,00,good\n1.1,1AB,00,bad\n";
  CHECK_THAT(read_table(log, "auto", {.benign = {"gud"}}).problems,
             Contains("column label: no row has the word gud, all are taken for attacks"));
  CHECK_THAT(read_table(log, "auto", {.benign = {"good", "Bad"}}).problems,
             Contains("no row has the word Bad, and words count as they are written"));
  CHECK_THAT(read_table("time,id,data\n1.0,1AB,00\n", "auto", {.benign = {"x"}}).problems,
             Contains("benign: not used, as no column holds labels"));
  CHECK(read_table("time,id,data,label\n1.0,1AB,00,0.0\n1.1,1AB,00,1.0\n").problems.empty());
}

TEST_CASE("a column that says what is benign needs the word that means it", "[can_table]") {
  const std::string text = "time,id,data,benign\n1.0,100,01,1\n1.1,100,02,0\n";
  LogReading reading;
  reading.label_column = "benign";
  CHECK_THAT(data_error([&] { read_table(text, "auto", reading); }),
             Contains("does 1 mean benign") && Contains("--benign 1"));
  reading.benign = {"1"};
  const ReadTable read = read_table(text, "auto", reading);
  REQUIRE(read.frames.size() == 2);
  CHECK(read.frames[0].label == 0);
  CHECK(read.frames[1].label == 1);
}

TEST_CASE("of several columns of labels the one whose name docs/data.md has first counts",
          "[can_table]") {
  for (const auto* const rows : {"time,id,data,label,attack\n1,100,01,1,0\n2,100,02,0,0\n",
                                 "time,id,data,attack,label\n1,100,01,0,1\n2,100,02,0,0\n"}) {
    const ReadTable read = read_table(rows);
    REQUIRE(read.frames.size() == 2);
    CHECK(read.frames[0].label == 0);
    CHECK_THAT(read.problems, Contains("attack counts"));
  }
}

TEST_CASE("a column of words of labels under another name asks for label_column", "[can_table]") {
  const std::string log = "time,id,data,Type\n1.0,1AB,00,Normal\n1.1,1AB,00,DoS\n";
  const ReadTable read = read_table(log);
  CHECK(labels_of(read) == "--");
  CHECK_THAT(read.problems, Contains("column Type is not used") && Contains("--label-column Type"));
  CHECK(labels_of(read_table(log, "auto", {.label_column = "Type"})) == "01");
}

TEST_CASE("comments ahead of a log and in it do no harm, and one may hold the header",
          "[can_table]") {
  for (const std::string mark : {"#", ";", "//", "  # "}) {
    INFO(mark);
    const std::string comment = mark + " recorded with a logger, version 2\n";
    const ReadTable candump = read_table(comment + "\n" + comment + "(1.0) can0 100#01\n" +
                                         comment + "(1.1) can0 101#02\n");
    CHECK(candump.format == "candump");
    CHECK(candump.frames.size() == 2);
    CHECK(candump.malformed == 0);
    const ReadTable table =
        read_table(comment + "data,id,time,label\n01,100,1.0,1\n" + comment + "02,101,1.1,0\n");
    CHECK(labels_of(table) == "10");
    CHECK(table.malformed == 0);
  }
  const ReadTable table = read_table("# data;id;time;label\n01;1AB;1.0;1\n02;101;1.1;0\n");
  REQUIRE(labels_of(table) == "10");
  CHECK(table.frames[0].id == 0x1ab);
  // A sign that is the separator, or the name of a column, is no comment.
  const ReadTable index = read_table(
      ";timestamp;arbitration_id;data_field;attack\n0;1.0;1A0;00;0\n;1.1;1A1;00;0\n2;1.2;1A1;00;"
      "1\n");
  CHECK(labels_of(index) == "001");
  CHECK_THAT(index.problems, Contains("column 1 (without a name) is not used"));
  const ReadTable blank =
      read_table("timestamp;arbitration_id;data_field;attack\n1.0;1A0;00;0\n;1A2;00;1\n");
  CHECK(blank.frames.size() == 1);
  CHECK(blank.malformed == 1);
  CHECK(labels_of(read_table("#;Time;ID;Data;Label\n0;1.0;1AB;00;1\n1;1.1;1AB;00;0\n")) == "10");
  CHECK(labels_of(read_table("\ttime\tid\tdata\tlabel\n0\t1.0\t1AB\t00\t1\n")) == "1");
  CHECK(is_can_log("log", "; of a test\n(1.0) can0 100#01\n(1.1) can0 101#02\n"));
}

}  // namespace
}  // namespace kdgat::data
