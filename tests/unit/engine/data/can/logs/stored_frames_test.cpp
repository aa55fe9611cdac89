// Logs imported with their frames: what the store holds is what the logs said.
#include "engine/data/can/logs/stored_frames.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/synthetic/synth_logs.h"
#include "engine/data/core/graph_domain.h"
#include "engine/graph/graph_store.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

namespace fs = std::filesystem;

bool same(const CanFrame& a, const CanFrame& b) {
  const bool same_time = std::isnan(a.time) ? std::isnan(b.time) : a.time == b.time;
  return same_time && a.id == b.id && a.length == b.length && a.label == b.label &&
         a.extended == b.extended && a.remote == b.remote && a.payload == b.payload;
}

graph::ImportOptions with_frames() {
  graph::ImportOptions options;
  options.features = "v3";
  return options;
}

TEST_CASE("a store made with v3 holds the frames of its logs, in their order", "[frames]") {
  const test::ScratchFolder scratch;
  CanSynthOptions synth;
  synth.seconds = 4;
  synth.attacks = {"dos", "suspension"};
  write_synthetic_logs(scratch / "logs", synth);
  graph::import_logs(scratch / "logs", scratch / "out", with_frames());
  const graph::GraphStore store = graph::GraphStore::open(scratch / "out" / kStoreName);
  const auto& frames = store.need<graph::Frames>();
  REQUIRE(frames.sources() == static_cast<int64_t>(store.sources().size()));
  CHECK(frames.width == 8);
  for (std::size_t s = 0; s < store.sources().size(); ++s) {
    const graph::Source& source = store.sources()[s];
    int64_t row = frames.source_ptr[s];
    CHECK(frames.source_ptr[s + 1] - row == source.rows);
    CanLog log(file::ByteReader(scratch / "logs" / source.path), "auto", true);
    CanFrame frame;
    while (log.next(frame)) {
      REQUIRE(same(frame_of(frames, row), frame));
      REQUIRE(restarts(frames, row) == log.restarted());
      ++row;
    }
    CHECK(row == frames.source_ptr[s + 1]);
  }
  // The graphs are those of v2.
  graph::import_logs(scratch / "logs", scratch / "plain", graph::ImportOptions());
  const graph::GraphStore plain = graph::GraphStore::open(scratch / "plain" / kStoreName);
  CHECK(plain.frames() == nullptr);
  CHECK(std::equal(plain.x().begin(), plain.x().end(), store.x().begin(), store.x().end()));
  CHECK_THROWS_WITH(plain.need<graph::Frames>(), Catch::Contains("have no frames of logs"));
}

TEST_CASE("frames keep long payloads, 29-bit ids, captures and rows without time or label",
          "[frames]") {
  const test::ScratchFolder scratch;
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += "(" + std::to_string(i < 30 ? 100 + i : i) + ".5) can0 ";
    text += i % 3 == 0 ? "18DAF110##1" + std::string(128, 'A' + static_cast<char>(i % 6))
                       : "123#0" + std::to_string(i % 10);
    text += "\n";
  }
  test::write_text(scratch / "logs/a.log", text);
  graph::import_logs(scratch / "logs", scratch / "out", with_frames());
  const graph::GraphStore store = graph::GraphStore::open(scratch / "out" / kStoreName);
  const auto& frames = store.need<graph::Frames>();
  CHECK(frames.width == 64);
  CanLog log(file::ByteReader(scratch / "logs/a.log"), "auto", true);
  CanFrame frame;
  int64_t row = 0, captures = 0;
  while (log.next(frame)) {
    REQUIRE(same(frame_of(frames, row), frame));
    captures += restarts(frames, row) ? 1 : 0;
    ++row;
  }
  CHECK(row == 60);
  CHECK(captures == 1);
}

TEST_CASE("a narrow row becomes wide without a change when a long one comes", "[frames]") {
  graph::Frames::Data rows;
  CanFrame first, second;
  first.length = 8;
  for (std::size_t i = 0; i < 8; ++i) first.payload[i] = static_cast<uint8_t>(i + 1);
  second.length = 64;
  second.payload.fill(0xAB);
  add_row(first, false, rows);
  add_row(second, true, rows);
  rows.source_ptr.push_back(2);
  const graph::Frames frames = graph::Frames::of(rows);
  CHECK(frames.fault().empty());
  CHECK(same(frame_of(frames, 0), [&] {
    CanFrame out = first;
    out.label = -1;
    return out;
  }()));
  CHECK(frame_of(frames, 1).payload == second.payload);
  CHECK(restarts(frames, 1));
}

TEST_CASE("frames that would lead outside of their arrays are refused", "[frames]") {
  graph::Frames::Data rows;
  for (int i = 0; i < 4; ++i) add_row(CanFrame(), false, rows);
  rows.source_ptr = {0, 2, 4};
  CHECK(graph::Frames::of(rows).fault().empty());
  const auto refused = [&](auto change) {
    graph::Frames::Data bad = rows;
    change(bad);
    return !graph::Frames::of(bad).fault().empty();
  };
  CHECK(refused([](graph::Frames::Data& d) { d.source_ptr = {0, 3, 2}; }));
  CHECK(refused([](graph::Frames::Data& d) { d.source_ptr = {0, 2, 5}; }));
  CHECK(refused([](graph::Frames::Data& d) { d.source_ptr = {1, 4}; }));
  CHECK(refused([](graph::Frames::Data& d) { d.length[2] = 9; }));
  CHECK(refused([](graph::Frames::Data& d) { d.id[1] = -1; }));
  CHECK(refused([](graph::Frames::Data& d) { d.id[1] = 1 << 29; }));
  CHECK(refused([](graph::Frames::Data& d) { d.width = 7; }));
}

}  // namespace
}  // namespace kdgat::data
