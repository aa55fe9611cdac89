// Tables of labels beside logs: what met no frame is reported, with why that may be.
#include "engine/data/can/logs/label_intervals.h"

#include <catch2/catch.hpp>

#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::write_text;

CanFrame frame(double time, uint32_t id) {
  CanFrame out;
  out.time = time;
  out.id = id;
  return out;
}

/// What is said of a table after frames of the ids 100 and 101 at each second of [from, to].
Notes notes_of(const std::string& rows, double from, double to) {
  const test::ScratchFolder folder;
  write_text(folder / "a.labels.csv", "begin,end,id\n" + rows);
  LabelIntervals labels(folder / "a.labels.csv");
  for (double time = from; time <= to; ++time) {
    labels.label_of(frame(time, 0x100));
    labels.label_of(frame(time, 0x101));
  }
  return labels.notes();
}

TEST_CASE("intervals that all meet frames need no word", "[label_intervals]") {
  CHECK(notes_of("1,2,\n2,3,100\n1,9,101\n1,9,101\n", 0, 10).empty());
}

TEST_CASE("an interval that meets no frame is reported with its line", "[label_intervals]") {
  const auto notes = notes_of("1,2,\n5,6,5FF\n20,21,\n", 0, 10);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0].message,
             Contains("2 of 3 intervals met no frame, the first is line 3, id 5FF 5 to 6") &&
                 Contains("no frame has the id 5FF") && Contains("from 0 to 10"));
  CHECK(notes[0].hint.empty());
}

TEST_CASE("times on another clock than the log's are named", "[label_intervals]") {
  const auto relative = notes_of("5,6,\n7,8,\n", 1.7e9, 1.7e9 + 9);
  REQUIRE(relative.size() == 1);
  CHECK_THAT(relative[0].text(), Contains("2 of 2 intervals met no frame") &&
                                     Contains("every frame counts as benign") &&
                                     Contains("seconds since the start of the log") &&
                                     Contains("clock of the log"));
  CHECK_THAT(notes_of("1.7e9,1.8e9,\n", 0, 9)[0].message,
             Contains("seconds since 1970, the frames count from a start"));
  CHECK_THAT(notes_of("", 0, 9)[0].message, Contains("holds no interval"));
}

/// Labels of frames of the ids 1A0, 1B0, 1A0, 1B0 at 10, 11, 12, 13 s of a.log.
std::string labels_by(const std::string& table, Notes* notes = nullptr) {
  const test::ScratchFolder folder;
  write_text(folder / "labels.csv", table);
  write_text(folder / "a.log", "");
  LabelTables tables;
  LabelIntervals& labels = *tables.of(folder / "a.log");
  std::string out;
  for (int i = 0; i < 4; ++i) {
    out += labels.label_of(frame(10 + i, i % 2 == 0 ? 0x1A0 : 0x1B0)) == 1 ? '1' : '0';
  }
  if (notes != nullptr) *notes = tables.notes();
  return out;
}

TEST_CASE("columns of a table of intervals have the names that tools give them",
          "[label_intervals]") {
  CHECK(labels_by("begin,end,label\n10,11,Normal\n12,12,DoS\n") == "0010");
  CHECK(labels_by("begin,end,attack\n10,11,0\n12,12,1\n") == "0010");
  CHECK(labels_by("Start Time,End Time,CAN ID\n10,13,1B0\n") == "0101");
  CHECK(labels_by("start;stop;ID\n10;13;0x1B0\n") == "0101");
  CHECK(labels_by("begin,end,ids\n11,12,1A0;1B0\n") == "0110");
  CHECK(labels_by("begin,end,ids\n11,12,\"[1A0, 1B0]\"\n") == "0110");
  CHECK(labels_by("file,begin,end\nb.log,10,13\na.log,11,11\na,13,13\n") == "0101");
  CHECK(labels_by("start,end\n1970-01-01 00:00:11,1970-01-01 00:00:12\n") == "0110");
  CHECK_THAT(test::data_error([] { labels_by("begin,end,label\n10,11,-1\n"); }),
             Contains("labels.csv:2: -1 is no label"));
  Notes notes;
  CHECK(labels_by("begin,end,bus\n10,11,1\n", &notes) == "1100");
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0].message, Contains("column bus is not used"));
  CHECK(labels_by("begin,end,label\n10,13,benign\n", &notes) == "0000");
  CHECK(notes.empty());
}

TEST_CASE("a table beside rows with labels is not used, and that is said", "[label_intervals]") {
  const test::ScratchFolder folder;
  write_text(folder / "labels.csv", "begin,end\n1,2\n");
  LabelTables tables;
  REQUIRE(tables.of(folder / "a.csv") != nullptr);
  CHECK(tables.of(folder / "b.csv") == tables.of(folder / "a.csv"));
  REQUIRE(tables.notes().size() == 1);
  CHECK_THAT(tables.notes()[0].message, Contains("a label of its own"));
  CHECK(tables.of("-") == nullptr);
}

TEST_CASE("a table of several logs is reported once, for what none of them meets",
          "[label_intervals]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/labels.csv", "begin,end\n1,2\n101,102\n");
  for (const int start : {0, 100}) {
    std::string log;
    const auto add_rows = [&](int second) {
      for (int i = 0; i < 300; ++i) {
        log += "(" + std::to_string(second) + "." + std::to_string(100 + i * 2) + ") can0 1A" +
               std::to_string(i % 8) + "#00\n";
      }
    };
    add_rows(start);
    log += "(" + std::to_string(start + 2) + ".0) can0 1A0#00\n";
    add_rows(start + 3);
    write_text(folder / "in" / (std::to_string(start) + ".log"), log);
  }
  CHECK(graph::import_logs(folder / "in", folder / "out", {}).warnings.empty());
  write_text(folder / "in/labels.csv", "begin,end\n1,2\n501,502\n");
  const auto report = graph::import_logs(folder / "in", folder / "again", {});
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0].text(), Contains("1 of 2 intervals") && Contains("line 3"));
}

TEST_CASE("intervals since the start beside a log of 1970 are a warning", "[label_intervals]") {
  const auto folder = test::shared_path("field/relative_labels");
  if (!folder) return;
  const test::ScratchFolder out;
  const auto report = graph::import_logs(*folder, out.path(), {});
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0].text(), Contains("seconds since the start of the log"));
}

}  // namespace
}  // namespace kdgat::data
