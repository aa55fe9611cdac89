#include "engine/data/can/windows/relative_graph.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/arrays/random.h"
#include "engine/data/can/windows/relative_windows.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::bus_of;
using test::drive;
using test::Frames;

constexpr auto kNodes = static_cast<std::size_t>(kRelativeNodeFeatures);
constexpr auto kEdges = static_cast<std::size_t>(kRelativeEdgeFeatures);

VehicleProfile profile_with_steps(const Frames& log) {
  ProfileBuilder builder(true);
  for (const CanFrame& frame : log) builder.add(frame);
  return builder.profile();
}

struct Given {
  RelativeWindow window;
  RelativeGraph graph;
  std::vector<ComparedFrame> frames;

  float node(std::size_t n, int column) const {
    return graph.x[n * kNodes + static_cast<std::size_t>(column)];
  }
  std::size_t node_of(uint32_t key) const {
    const auto at = std::find(graph.keys.begin() + 1, graph.keys.end(), key);
    REQUIRE(at != graph.keys.end());
    return static_cast<std::size_t>(at - graph.keys.begin());
  }
  float edge(std::size_t e, int column) const {
    return graph.edge_attr[e * kEdges + static_cast<std::size_t>(column)];
  }
};

std::vector<Given> graphs_of(const VehicleProfile& profile, const Frames& log, int64_t size = 100) {
  RelativeWindows windows(profile, size);
  std::vector<Given> out;
  const auto take = [&] {
    const auto frames = windows.frames();
    out.push_back({windows.window(), windows.graph(), {frames.begin(), frames.end()}});
  };
  for (const CanFrame& frame : log) {
    if (windows.add(frame)) take();
  }
  while (windows.finish()) take();
  return out;
}

}  // namespace

TEST_CASE("columns of a window follow from those of its nodes", "[relative]") {
  const VehicleProfile profile = profile_with_steps(drive(60, 0));
  // Largest values, and shares, which add up.
  const std::set<int> shares = {KDGAT_COL_LENGTH, KDGAT_COL_SURPLUS, KDGAT_COL_OFF_SHARE};
  const std::set<int> eased = {KDGAT_COL_UNKNOWN, KDGAT_COL_NEW, KDGAT_COL_BACK, KDGAT_COL_SILENCE,
                               KDGAT_COL_TIGHT};
  int odd = 0;
  for (const char* attack : {"", "fuzzing", "dos", "spoofing", "replay", "suspension"}) {
    INFO(attack);
    for (const Given& one : graphs_of(profile, drive(20, 1, attack))) {
      const std::size_t nodes = one.graph.keys.size();
      REQUIRE(one.graph.x.size() == nodes * kNodes);
      for (int c = 0; c < static_cast<int>(KDGAT_COLUMNS); ++c) {
        float most = 0, sum = 0;
        for (std::size_t n = 0; n < nodes; ++n) {
          most = std::max(most, one.node(n, c));
          sum += one.node(n, c);
        }
        const float whole = one.window.x[static_cast<std::size_t>(c)];
        INFO("column " << relative_names()[static_cast<std::size_t>(c)]);
        if (shares.contains(c)) {
          CHECK(sum == Approx(whole).margin(1e-5));
        } else if (c != KDGAT_COL_CROWD_OFF2 && (c != KDGAT_COL_SILENCE || whole > 1)) {
          CHECK(most == (eased.contains(c) ? kdgat_eased(whole)
                                           : whole));  // the second largest may be of another node
        }
      }
      odd += one.window.attack ? 1 : 0;
      for (const float value : one.graph.x) CHECK(std::isfinite(value));
      for (const float value : one.graph.edge_attr) CHECK(std::isfinite(value));
    }
  }
  CHECK(odd > 20);
}

TEST_CASE("a graph of a window has an edge for each pair of ids that follow one another",
          "[relative]") {
  const Frames log = drive(30, 2, "fuzzing");
  const VehicleProfile profile = profile_with_steps(drive(60, 0));
  for (const Given& one : graphs_of(profile, log, 50)) {
    // The plain form.
    std::map<std::pair<int32_t, int32_t>, int> pairs;
    std::map<int32_t, int> from;
    int32_t last = -1;
    for (const int32_t node : one.graph.node_of) {
      if (node < 0) continue;
      if (last >= 0) {
        ++pairs[{last, node}];
        ++from[last];
      }
      last = node;
    }
    REQUIRE(one.graph.source.size() == pairs.size());
    std::size_t e = 0;
    for (const auto& [pair, count] : pairs) {
      CHECK(one.graph.source[e] == pair.first);
      CHECK(one.graph.target[e] == pair.second);
      CHECK(one.edge(e, KDGAT_OF_STEP_SHARE) ==
            static_cast<float>(count) / static_cast<float>(from[pair.first]));
      CHECK(one.edge(e, KDGAT_OF_STEP_RARITY) >= 0);
      for (const int column : {KDGAT_OF_STEP_LEAST, KDGAT_OF_STEP_MEAN}) {
        CHECK(std::abs(one.edge(e, column)) <= 1);
      }
      ++e;
    }
  }
}

TEST_CASE("numbers of nodes and edges are 0 where all is as usual, on any vehicle", "[relative]") {
  // Two vehicles with other ids and other periods, and the same traffic in units of theirs.
  const std::vector<std::vector<test::Sent>> vehicles = {{{0x100, 0.01}, {0x200, 0.02}},
                                                         {{0x4, 0.03}, {0x7FF, 0.06}}};
  std::vector<RelativeGraph> seen;
  for (const auto& ids : vehicles) {
    const Frames log = bus_of(ids, 3000 * ids[0].period);
    const std::vector<Given> graphs = graphs_of(profile_with_steps(log), log, 60);
    const Given& one = graphs[graphs.size() / 2];
    REQUIRE(one.graph.keys == std::vector<uint32_t>{0, ids[0].id, ids[1].id});
    for (std::size_t n = 0; n < 3; ++n) {
      for (int c = 0; c < static_cast<int>(KDGAT_OF_NODE_COLUMNS); ++c) {
        INFO("node " << n << " column " << relative_node_names()[static_cast<std::size_t>(c)]);
        const bool is_time = c == KDGAT_COL_SILENCE || c == KDGAT_COL_TIGHT;  // about 1
        if (c == KDGAT_OF_NODE_OUTSIDE) {
          CHECK(one.node(n, c) == (n == 0 ? 1 : 0));
        } else if (c == KDGAT_OF_NODE_MORE || c == KDGAT_OF_NODE_FEWER) {
          CHECK(one.node(n, c) < 0.05);
        } else if (!is_time) {
          CHECK(one.node(n, c) < 0.1);
        }
      }
    }
    for (std::size_t e = 0; e < one.graph.source.size(); ++e) {
      CHECK(one.edge(e, KDGAT_OF_STEP_RARITY) < 2);
      CHECK(std::abs(one.edge(e, KDGAT_OF_STEP_LEAST)) < 0.3);
    }
    seen.push_back(one.graph);
  }
  CHECK(seen[0].x.size() == seen[1].x.size());
}

TEST_CASE("what is odd is on the node of its id", "[relative]") {
  const std::vector<test::Sent> ids = {{0x100, 0.01}, {0x200, 0.02}, {0x300, 0.05}};
  const Frames usual = bus_of(ids, 60);
  const VehicleProfile profile = profile_with_steps(usual);
  SECTION("an early frame of another payload") {
    Frames log = usual;
    const auto at = log.begin() + 4000;
    CanFrame forged = *std::find_if(at, log.end(), [](const CanFrame& f) { return f.id == 0x300; });
    forged.time += 0.01;
    forged.payload[0] = 0xAB;
    log.insert(std::upper_bound(log.begin(), log.end(), forged.time,
                                [](double time, const CanFrame& f) { return time < f.time; }),
               forged);
    int found = 0;
    for (const Given& one : graphs_of(profile, log)) {
      if (one.node(one.node_of(0x300), KDGAT_COL_CROWD_NEW) <= 0.3) continue;
      ++found;
      for (const uint32_t other : {0x100U, 0x200U}) {
        CHECK(one.node(one.node_of(other), KDGAT_COL_CROWD_NEW) == 0);
      }
    }
    CHECK(found >= 1);
  }
  SECTION("ids that the profile does not have are the first node, whatever they are") {
    Frames log = usual;
    for (int i = 0; i < 40; ++i) {
      CanFrame forged = log[static_cast<std::size_t>(4000 + 3 * i)];
      forged.id = static_cast<uint32_t>(0x500 + i % 7);
      log.insert(log.begin() + 4000 + 3 * i, forged);
    }
    bool is_found = false;
    for (const Given& one : graphs_of(profile, log)) {
      CHECK(one.graph.keys.size() <= 4);
      if (one.node(0, KDGAT_COL_UNKNOWN) < kdgat_eased(5)) continue;
      is_found = true;
      CHECK(one.node(1, KDGAT_COL_UNKNOWN) == 0);
      const auto of_edges = std::find(one.graph.source.begin(), one.graph.source.end(), 0);
      REQUIRE(of_edges != one.graph.source.end());
      CHECK(one.edge(static_cast<std::size_t>(of_edges - one.graph.source.begin()),
                     KDGAT_OF_STEP_RARITY) == KDGAT_MOST);
    }
    CHECK(is_found);
  }
  SECTION("an id that falls silent keeps a node while it is missing") {
    const Frames log = bus_of({{0x100, 0.01}, {0x200, 0.02, 20, 30}, {0x300, 0.05}}, 60);
    bool is_found = false;
    for (const Given& one : graphs_of(profile, log)) {
      if (one.window.begin < 21 || one.window.end > 29) continue;
      is_found = true;
      const std::size_t node = one.node_of(0x200);
      CHECK(one.node(node, KDGAT_COL_SILENCE) > kdgat_eased(5));
      CHECK(one.node(node, KDGAT_OF_NODE_FEWER) == 1);  // none of those that are due
    }
    CHECK(is_found);
  }
  SECTION("a tester has no node and no edge, and parts no other") {
    Frames log = usual;
    for (std::size_t i = 4000; i < 4400; i += 40) {
      CanFrame tester = log[i];
      tester.id = 0x7DF;
      log.insert(log.begin() + static_cast<std::ptrdiff_t>(i), tester);
    }
    for (const Given& one : graphs_of(profile, log)) {
      CHECK(std::find(one.graph.keys.begin(), one.graph.keys.end(), 0x7DFU) ==
            one.graph.keys.end());
      CHECK(std::find(one.graph.source.begin(), one.graph.source.end(), 0) ==
            one.graph.source.end());
    }
  }
}

TEST_CASE("no step crosses from one capture to the next, nor from bus to bus", "[relative]") {
  const Frames one = bus_of({{0x100, 0.01}, {0x200, 0.02}}, 30);
  Frames both = test::merged(one, test::on_channel(bus_of({{0x300, 0.015}}, 30), 1, one));
  const VehicleProfile profile = profile_with_steps(both);
  for (const IdStep& step : profile.steps) CHECK(step.from >> 29 == step.to >> 29);
  for (const Given& given : graphs_of(profile, both)) {
    for (std::size_t e = 0; e < given.graph.source.size(); ++e) {
      const auto key = [&](int32_t node) {
        return given.graph.keys[static_cast<std::size_t>(node)];
      };
      CHECK(key(given.graph.source[e]) >> 29 == key(given.graph.target[e]) >> 29);
    }
  }
  RelativeWindows windows(profile, 10);
  int64_t added = 0, steps = 0, given = 0;
  for (const CanFrame& frame : one) {
    if (added % 5 == 0) windows.restart();  // two captures a window
    if (!windows.add(frame)) {
      ++added;
      continue;
    }
    ++added;
    ++given;
    const RelativeGraph graph = windows.graph();
    for (const float share : graph.edge_attr) CHECK(std::isfinite(share));
    std::map<int32_t, int> from;
    for (std::size_t i = 0; i + 1 < graph.node_of.size(); ++i)
      from[graph.node_of[i]] += i == 4 ? 0 : 1;
    for (std::size_t e = 0; e < graph.source.size(); ++e) {
      steps += std::lround(graph.edge_attr[e * kEdges + KDGAT_OF_STEP_SHARE] *
                           static_cast<float>(from[graph.source[e]]));
    }
  }
  CHECK(given > 100);
  CHECK(steps == 8 * given);  // of nine pairs of rows one is of two captures
}

TEST_CASE("steps are part of a profile's file, each number in its range", "[profile]") {
  const VehicleProfile profile = profile_with_steps(drive(20, 0));
  REQUIRE(profile.steps.size() > 5);
  const nlohmann::json sound = profile.json();
  const VehicleProfile again = VehicleProfile::from_json(sound, "p.json");
  CHECK(again.steps == profile.steps);
  CHECK_FALSE(profile_of(drive(20, 0)).json().contains("steps"));
  const auto refuses = [&](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json bad = sound;
    change(bad["steps"]);
    CHECK_THROWS_AS(VehicleProfile::from_json(bad, "p.json"), Error);
  };
  refuses([](auto& steps) { steps = 3; });
  refuses([](auto& steps) { steps[0] = {1, 2, 3}; });
  refuses([](auto& steps) { steps[0][0] = -1; });
  refuses([](auto& steps) { steps[0][1] = int64_t{1} << 32; });
  refuses([](auto& steps) { steps[0][2] = 1.5; });
  refuses([](auto& steps) { steps[0][3] = -1; });
  refuses([](auto& steps) { std::swap(steps[0], steps[1]); });
}

}  // namespace kdgat::data
