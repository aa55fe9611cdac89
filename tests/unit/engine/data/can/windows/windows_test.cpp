#include "engine/data/can/windows/windows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "engine/arrays/random.h"

namespace kdgat::data {
namespace {

struct Built {
  graph::GraphStoreData data;
  arrays::Column<uint32_t> node_ids;
};

Built build(const std::vector<CanFrame>& frames, int64_t window = 100, int64_t stride = 100,
            int64_t chunk_rows = 0) {
  Built built;
  WindowBuilder windows(window, stride, chunk_rows, built.data, built.node_ids);
  windows.start(0);
  for (const CanFrame& frame : frames) windows.add(frame);
  windows.finish();
  return built;
}

std::vector<CanFrame> frames_of(const std::vector<uint32_t>& ids, int8_t label = 0) {
  std::vector<CanFrame> out;
  for (const uint32_t id : ids) {
    CanFrame frame;
    frame.id = id;
    frame.label = label;
    out.push_back(frame);
  }
  return out;
}

/// The same graphs by the plainest means: maps over the rows of each window.
Built reference(const std::vector<CanFrame>& frames, int64_t window, int64_t stride,
                int64_t chunk_rows) {
  std::vector<std::size_t> kept;  // rows with a target
  for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
    if (chunk_rows == 0 || (static_cast<int64_t>(i) + 1) % chunk_rows != 0) kept.push_back(i);
  }
  Built built;
  const auto n = static_cast<int64_t>(kept.size());
  const int64_t count = n == 0 ? 0 : n < window ? 1 : (n - window) / stride + 1;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t begin = k * stride, w = std::min(window, n);
    std::set<uint32_t> nodes;
    std::map<uint32_t, std::vector<int64_t>> rows_of;
    std::map<uint32_t, double> degree;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<int64_t>> edges;
    int32_t y = 0;
    const auto frame_at = [&](int64_t r) { return kept[static_cast<std::size_t>(begin + r)]; };
    for (int64_t r = 0; r < w; ++r) {
      const CanFrame& frame = frames[frame_at(r)];
      const uint32_t target = frames[frame_at(r) + 1].id;
      nodes.insert({frame.id, target});
      rows_of[frame.id].push_back(r);
      ++degree[frame.id];
      ++degree[target];
      edges[{frame.id, target}].push_back(r);
      if (frame.label == 1) y = 1;
      if (frame.label < 0 && y == 0) y = -1;
    }
    double least = 1e9, most = 0;
    for (const uint32_t node : nodes) {
      least = std::min(least, static_cast<double>(rows_of[node].size()));
      most = std::max(most, static_cast<double>(rows_of[node].size()));
    }
    std::map<uint32_t, int32_t> number;
    for (const uint32_t node : nodes) {
      number.emplace(node, static_cast<int32_t>(number.size()));
      const std::vector<int64_t>& rows = rows_of[node];
      const auto c = static_cast<double>(rows.size());
      double x[11] = {};
      for (const int64_t r : rows) {
        for (std::size_t b = 0; b < 8; ++b) x[1 + b] += frames[frame_at(r)].payload[b] / 255.0 / c;
      }
      x[9] = most > least ? (c - least) / (most - least) : c;
      if (!rows.empty() && w > 1) x[10] = rows.back() / static_cast<double>(w - 1);
      built.node_ids.push_back(node);
      for (const double value : x) built.data.x.push_back(static_cast<float>(value));
    }
    for (const auto& [edge, at] : edges) {
      const auto [s, t] = edge;
      const auto c = static_cast<double>(at.size()), width = static_cast<double>(w);
      double mean = 0, square = 0;
      for (std::size_t i = 1; i < at.size(); ++i) mean += (at[i] - at[i - 1]) / (c - 1);
      for (std::size_t i = 1; i < at.size(); ++i) {
        square += std::pow(at[i] - at[i - 1] - mean, 2) / (c - 1);
      }
      const double std = std::sqrt(square);
      const double regular = at.size() == 1 ? 0 : std == 0 ? 1 : 1 / (1 + std);
      built.data.edge_source.push_back(number[s]);
      built.data.edge_target.push_back(number[t]);
      for (const double value :
           {c, c / width, mean, std, regular, at.front() / width, at.back() / width,
            (at.back() - at.front()) / width, edges.contains({t, s}) ? 1.0 : 0.0,
            degree[s] * degree[t], degree[s] / degree[t]}) {
        built.data.edge_attr.push_back(static_cast<float>(value));
      }
    }
    built.data.y.push_back(y);
    built.data.node_ptr.push_back(static_cast<int64_t>(built.node_ids.size()));
    built.data.edge_ptr.push_back(static_cast<int64_t>(built.data.edge_source.size()));
    built.data.row_begin.push_back(static_cast<int64_t>(frame_at(0)));
    built.data.row_end.push_back(static_cast<int64_t>(frame_at(w - 1)) + 1);
  }
  return built;
}

bool close(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::abs(x - y) <= 1e-5F + 1e-4F * std::abs(y);
  });
}

float edge_feature(const Built& built, std::size_t edge, std::size_t feature) {
  return built.data.edge_attr[edge * 11 + feature];
}
float node_feature(const Built& built, std::size_t node, std::size_t feature) {
  return built.data.x[node * 11 + feature];
}

TEST_CASE("windows of random rows equal a plain reference", "[windows]") {
  arrays::Random random(7);
  for (int round = 0; round < 120; ++round) {
    const auto window = static_cast<int64_t>(2 + random.below(round % 4 == 0 ? 299 : 40));
    const auto stride = static_cast<int64_t>(1 + random.below(2 * static_cast<uint64_t>(window)));
    const auto chunk = round % 3 == 0 ? static_cast<int64_t>(1 + random.below(90)) : 0;
    const uint64_t ids = 1 + random.below(60), rows = random.below(900);
    const bool extended = round % 2 == 0;
    std::vector<CanFrame> frames(rows);
    for (CanFrame& frame : frames) {
      const auto id = static_cast<uint32_t>(random.below(ids));
      frame.id = extended && id % 3 != 0 ? (id * 0x3FFFFF7U) & 0x1FFFFFFFU : id * 37;
      for (std::size_t b = 0; b < random.below(9); ++b) {
        frame.payload[b] = static_cast<uint8_t>(random.below(256));
      }
      const uint64_t label = random.below(400);
      frame.label = static_cast<int8_t>(label == 0 ? 1 : label == 1 ? -1 : 0);
    }
    INFO("window " << window << " stride " << stride << " chunk " << chunk << " rows " << rows);
    const Built fast = build(frames, window, stride, chunk);
    const Built plain = reference(frames, window, stride, chunk);
    CHECK(fast.node_ids == plain.node_ids);
    CHECK(fast.data.node_ptr == plain.data.node_ptr);
    CHECK(fast.data.edge_ptr == plain.data.edge_ptr);
    CHECK(fast.data.edge_source == plain.data.edge_source);
    CHECK(fast.data.edge_target == plain.data.edge_target);
    CHECK(fast.data.y == plain.data.y);
    CHECK(fast.data.row_begin == plain.data.row_begin);
    CHECK(fast.data.row_end == plain.data.row_end);
    CHECK(close(fast.data.x, plain.data.x));
    CHECK(close(fast.data.edge_attr, plain.data.edge_attr));
  }
}

TEST_CASE("an id that follows itself is a self-loop with its own reverse", "[windows]") {
  const Built built = build(frames_of({5, 5, 5, 5}), 3, 3);
  CHECK(built.node_ids == std::vector<uint32_t>{5});
  REQUIRE(built.data.edge_source.size() == 1);
  CHECK(edge_feature(built, 0, 0) == 3);
  CHECK(edge_feature(built, 0, 4) == 1);   // gaps of one each: regular
  CHECK(edge_feature(built, 0, 8) == 1);   // reverse
  CHECK(edge_feature(built, 0, 9) == 36);  // (3+3)^2
  CHECK(node_feature(built, 0, 9) == 3);   // equal counts stay raw
}

TEST_CASE("a node that is only a target has no features but its id", "[windows]") {
  std::vector<CanFrame> frames = frames_of({1, 1, 9});
  frames[2].payload[0] = 255;
  const Built built = build(frames, 2, 2);
  CHECK(built.node_ids == std::vector<uint32_t>{1, 9});
  for (std::size_t f = 0; f < 11; ++f) CHECK(node_feature(built, 1, f) == 0);
  CHECK(node_feature(built, 0, 9) == 1);
  CHECK(node_feature(built, 0, 10) == 1);
}

TEST_CASE("an edge that occurs once has no gaps", "[windows]") {
  const Built built = build(frames_of({1, 2, 3}), 2, 2);
  REQUIRE(built.data.edge_source.size() == 2);
  for (const std::size_t f : {2U, 3U, 4U, 7U, 8U}) CHECK(edge_feature(built, 1, f) == 0);
  CHECK(edge_feature(built, 1, 1) == 0.5F);
  CHECK(edge_feature(built, 1, 5) == 0.5F);
  CHECK(edge_feature(built, 1, 6) == 0.5F);
}

TEST_CASE("an empty payload counts as zero bytes", "[windows]") {
  std::vector<CanFrame> frames = frames_of({1, 1, 1});
  frames[0].payload[0] = 255;
  CHECK(node_feature(build(frames, 2, 2), 0, 1) == 0.5F);
}

TEST_CASE("a log shorter than a window makes one short window", "[windows]") {
  const Built built = build(frames_of({1, 2, 3, 4}));
  CHECK(built.data.y.size() == 1);
  CHECK(built.data.row_begin == std::vector<int64_t>{0});
  CHECK(built.data.row_end == std::vector<int64_t>{3});
  CHECK(build(frames_of({1, 2})).data.y.size() == 1);
  CHECK(build(frames_of({1})).data.y.empty());
  CHECK(build({}).data.y.empty());
}

TEST_CASE("a log of n rows gives the published number of windows", "[windows]") {
  const auto count = [](std::size_t rows, int64_t stride, int64_t chunk) {
    return build(frames_of(std::vector<uint32_t>(rows, 1)), 100, stride, chunk).data.y.size();
  };
  CHECK(count(200, 100, 0) == 1);  // 199 rows have a successor
  CHECK(count(201, 100, 0) == 2);
  CHECK(count(201, 50, 0) == 3);
  CHECK(count(451, 150, 0) == 3);
  CHECK(count(5001, 100, 0) == 50);
  CHECK(count(5001, 100, 5000) == 49);  // 4999: the last rows of both chunks are dropped
  CHECK(count(5002, 100, 5000) == 50);
}

TEST_CASE("attack rows behind the last full window are counted", "[windows]") {
  const auto lost = [](int64_t rows, int64_t attacks, int64_t window, int64_t stride) {
    Built built;
    WindowBuilder windows(window, stride, 0, built.data, built.node_ids);
    windows.start(0);
    for (int64_t i = 0; i < rows; ++i) {
      CanFrame frame;
      frame.label = i >= rows - attacks ? 1 : 0;
      windows.add(frame);
    }
    windows.finish();
    CHECK(windows.attacks() == attacks);
    return windows.lost_attacks();
  };
  CHECK(lost(200, 50, 100, 100) == 50);  // 199 rows have a next one: one window
  CHECK(lost(201, 50, 100, 100) == 1);
  CHECK(lost(201, 0, 100, 100) == 0);
  CHECK(lost(120, 15, 100, 10) == 10);  // windows end at 100 and 110
  CHECK(lost(50, 20, 100, 100) == 1);   // one short window, without the last row
}

TEST_CASE("one attack row makes an attack, else one unlabelled row leaves none", "[windows]") {
  std::vector<CanFrame> frames = frames_of({1, 2, 3, 4});
  CHECK(build(frames).data.y[0] == 0);
  frames[3].label = 1;  // the last frame is no row
  CHECK(build(frames).data.y[0] == 0);
  frames[1].label = -1;
  CHECK(build(frames).data.y[0] == -1);
  frames[0].label = 1;
  CHECK(build(frames).data.y[0] == 1);
}

TEST_CASE("windows do not cross captures, and positions go on", "[windows]") {
  Built built;
  WindowBuilder windows(2, 2, 0, built.data, built.node_ids);
  windows.start(3);
  for (const CanFrame& frame : frames_of({1, 1, 1, 1})) windows.add(frame);
  windows.finish();
  for (const CanFrame& frame : frames_of({2, 2})) windows.add(frame);
  windows.finish();
  CHECK(built.node_ids == std::vector<uint32_t>{1, 2});
  CHECK(built.data.row_begin == std::vector<int64_t>{0, 4});
  CHECK(built.data.row_end == std::vector<int64_t>{2, 5});
  CHECK(built.data.source_of == std::vector<int32_t>{3, 3});
}

TEST_CASE("ids are kept once and sorted", "[windows]") {
  IdSet ids;
  for (const uint32_t id : {0x1FFFFFFFU, 7U, 2048U, 7U, 2047U, 0U, 2048U}) ids.insert(id);
  CHECK(ids.sorted() == std::vector<int64_t>{0, 7, 2047, 2048, 0x1FFFFFFF});
}

}  // namespace
}  // namespace kdgat::data
