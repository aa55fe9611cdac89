// One bus of a log, or each by itself: what is read then, and what an import makes of it.
#include "engine/data/can/frames/channel_choice.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/convert_options.h"
#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/logs/log_streams.h"
#include "engine/data/core/graph_domain.h"
#include "engine/graph/graph_store.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"
#include "support/can/log_forms.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

using Catch::Contains;

const std::string kThreeBuses =
    "(1.0) can0 1A0#0011\n(1.1) can2 1A0#0012\n(1.2) can0 1A1#0013\n"
    "(1.3) body 1A2#00\n(1.4) can2 1A3#00\n";

struct ReadBus {
  std::vector<CanFrame> frames;
  std::string problems;
};

ReadBus read_bus(const std::string& text, const std::string& channel) {
  CanLog log(file::ByteReader("a.log", text), "auto", false, channel);
  ReadBus out;
  CanFrame frame;
  while (log.next(frame)) out.frames.push_back(frame);
  CHECK(log.rows() == std::ssize(out.frames));
  for (const Diagnostic& problem : log.problems()) out.problems += problem.message + "\n";
  return out;
}

TEST_CASE("one bus is read by its number or its name, as if the log had no other", "[channels]") {
  for (const char* channel : {"2", "can2"}) {
    INFO(channel);
    const ReadBus read = read_bus(kThreeBuses, channel);
    REQUIRE(read.frames.size() == 2);
    CHECK(read.frames[0].time == 1.1);
    CHECK(read.frames[1].key() == 0x1A3);
    CHECK_THAT(read.problems, Contains("3 frames of other buses left out: 0 (can0), 1 (body)"));
  }
  // A name without a number got the lowest one that was free.
  for (const char* channel : {"1", "body"}) {
    CHECK(read_bus(kThreeBuses, channel).frames.at(0).id == 0x1A2);
  }
  const ReadBus all = read_bus(kThreeBuses, "all");
  CHECK(all.frames.size() == 5);
  CHECK(all.frames[1].channel == 2);
  CHECK_THAT(all.problems, !Contains("other buses"));
}

TEST_CASE("a log without the bus is refused with those that it has", "[channels]") {
  for (const char* channel : {"can1", "3", "can20"}) {
    INFO(channel);
    try {
      read_bus(kThreeBuses, channel);
      FAIL("it was read");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kData);
      const Diagnostic& told = error.diagnostics().front();
      CHECK(told.message == std::string("the log has no channel ") + channel);
      CHECK(told.hint == "it has 0 (can0), 1 (body), 2 (can2)");
      CHECK(told.where == "a.log");
    }
  }
  const std::string no_buses = "timestamp,arbitration_id,data_field,attack\n1.0,1A0,00,0\n";
  CHECK(read_bus(no_buses, "0").frames.size() == 1);
  CHECK_THROWS_WITH(read_bus(no_buses, "1"), Contains("no channel 1") && Contains("it has 0"));
  CHECK_THROWS_WITH(read_bus(no_buses, "can0"),
                    Contains("no channel can0") && Contains("it has 0"));
}

TEST_CASE("times of buses that are not read go unseen", "[channels]") {
  // On can0 the clock only rises.
  const std::string text = "(5.0) can0 1A0#00\n(1.0) can1 1A0#00\n(5.1) can0 1A0#00\n";
  CHECK(read_bus(text, "0").problems == "1 frame of other buses left out: 1 (can1)\n");
  CHECK_THAT(read_bus(text, "all").problems, Contains("time falls back"));
}

TEST_CASE("forms of bytes have their buses by number", "[channels]") {
  std::vector<CanFrame> frames(6);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].time = 1 + static_cast<double>(i);
    frames[i].id = 0x100 + static_cast<uint32_t>(i);
    frames[i].channel = static_cast<uint8_t>(i % 3);
  }
  for (const std::string& text : {test::blf_of(frames), test::pcapng_of(frames)}) {
    const ReadBus read = read_bus(text, "1");
    REQUIRE(read.frames.size() == 2);
    CHECK(read.frames[0].id == 0x101);
    CHECK(read.frames[1].id == 0x104);
  }
  CHECK_THROWS_WITH(read_bus(test::blf_of(frames), "5"), Contains("it has 0, 1, 2"));
}

TEST_CASE("an option names a bus, all or each, and nothing else", "[channels]") {
  for (const char* good : {"all", "each", "0", "7", "can1", "can12"}) {
    CHECK(channel_problems(good).empty());
  }
  for (const char* bad : {"", "8", "99999999999999999999"}) {
    REQUIRE(channel_problems(bad).size() == 1);
    CHECK_THAT(channel_problems(bad)[0].text(), Contains("channel: "));
  }
  CHECK_THAT(channel_problems("each", "because").at(0).message, Contains("because"));
  CHECK_THROWS_WITH(load_options<CanConvertOptions>({{"channel", "each"}}),
                    Contains("a file of its own"));
}

std::string store_bytes(const std::filesystem::path& folder) {
  return test::read_text(folder / kStoreName);
}

TEST_CASE("an import of one bus is that of a log of this bus alone", "[channels]") {
  const test::ScratchFolder scratch;
  const auto first = test::drive(6, 0);
  const auto second = test::drive(6, 3);
  const auto both = test::merged(first, test::on_channel(second, 3, first));
  std::vector<CanFrame> alone;
  for (CanFrame frame : both) {
    if (frame.channel != 3) continue;
    frame.channel = 0;
    alone.push_back(frame);
  }
  test::write_text(scratch / "both/a.log", format_log(both, "candump"));
  test::write_text(scratch / "alone/a.log", format_log(alone, "candump"));
  graph::ImportOptions options;
  options.features = "v3";
  graph::import_logs(scratch / "alone", scratch / "expected", options);
  options.channel = "can3";
  graph::import_logs(scratch / "both", scratch / "out", options);
  const graph::GraphStore expected = graph::GraphStore::open(scratch / "expected" / kStoreName);
  const graph::GraphStore out = graph::GraphStore::open(scratch / "out" / kStoreName);
  REQUIRE(out.graphs() > 5);
  CHECK(out.graphs() == expected.graphs());
  CHECK(std::equal(out.x().begin(), out.x().end(), expected.x().begin(), expected.x().end()));
  const auto &ours = out.need<graph::Frames>(), &theirs = expected.need<graph::Frames>();
  CHECK(std::equal(ours.id.begin(), ours.id.end(), theirs.id.begin(), theirs.id.end()));
  CHECK(std::equal(ours.flags.begin(), ours.flags.end(), theirs.flags.begin(), theirs.flags.end()));
}

TEST_CASE("with each every bus is a log of the store, and no window mixes two", "[channels]") {
  const test::ScratchFolder scratch;
  const auto first = test::drive(6, 0);
  const auto both = test::merged(first, test::on_channel(test::drive(6, 3), 3, first));
  test::write_text(scratch / "logs/a.log", format_log(both, "candump"));
  test::write_text(scratch / "logs/b.csv", format_log(first, "can-train-and-test"));
  graph::ImportOptions options;
  options.features = "v3";
  options.channel = "each";
  int64_t done = 0, total = 0;
  const ImportReport report =
      graph::import_logs(scratch / "logs", scratch / "out", options, [&](int64_t now, int64_t of) {
        CHECK(now >= done);
        done = now;
        total = of;
      });
  for (const Diagnostic& warning : report.warnings) CHECK(warning.message == "");
  CHECK(done <= total);
  CHECK(done > total - 8);  // a share of each pass is rounded
  const graph::GraphStore store = graph::GraphStore::open(scratch / "out" / kStoreName);
  const auto& sources = store.sources();
  REQUIRE(sources.size() == 3);
  CHECK(sources[0].path == "a.log#can0");
  CHECK(sources[1].path == "a.log#can3");
  CHECK(sources[2].path == "b.csv");  // it has one
  CHECK(sources[0].rows + sources[1].rows == std::ssize(both));
  CHECK(sources[0].rows == std::ssize(first));
  CHECK(sources[0].graphs == sources[0].rows / 100);
  const auto& frames = store.need<graph::Frames>();
  std::size_t row = 0;
  for (const CanFrame& frame : both) {
    if (frame.channel != 3) continue;
    const auto at = static_cast<std::size_t>(frames.source_ptr[1]) + row++;
    REQUIRE(static_cast<uint32_t>(frames.id[at]) == frame.id);
  }
  CHECK(row > 100);
}

TEST_CASE("a log is read more than once for each of its buses, so it cannot be a pipe",
          "[channels]") {
  CHECK_THROWS_WITH(by_channel({{"-", "-", "", "train"}}, "each", "auto", {}),
                    Contains("a pipe ends"));
  CHECK(by_channel({{"-", "-", "", "train"}}, "can1", "auto", {}).at(0).channel == "can1");
  const test::ScratchFolder scratch;
  test::write_text(scratch / "a.log", "(1.0) can0 broken\n");
  const auto streams =
      by_channel({{scratch / "a.log", "a.log", "", "train"}}, "each", "candump", {});
  REQUIRE(streams.size() == 1);
  CHECK(streams[0].name == "a.log");
}

TEST_CASE("an import without the option is what it was before there was one", "[channels]") {
  const test::ScratchFolder scratch;
  test::write_text(scratch / "logs/a.log", format_log(test::drive(3, 0), "candump"));
  graph::ImportOptions options;
  const std::string before = graph::import_fingerprint(scratch / "logs", options);
  graph::import_logs(scratch / "logs", scratch / "out", options);
  CHECK_THAT(store_bytes(scratch / "out"), !Contains("channel"));
  options.channel = "0";
  CHECK(graph::import_fingerprint(scratch / "logs", options) != before);
  graph::import_logs(scratch / "logs", scratch / "other", options);
  CHECK_THAT(store_bytes(scratch / "other"), Contains("channel"));
}

}  // namespace
}  // namespace kdgat::data
