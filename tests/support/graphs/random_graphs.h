// Graph stores made of seeded random numbers, for tests that need graphs but no logs.
#pragma once

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/graph/graph_store.h"

namespace kdgat::test {

/// What random_graphs() makes. Graph g of a file covers rows [g * stride, g * stride + window).
struct RandomGraphs {
  std::vector<int64_t> files = {50};  ///< graphs of each source file
  std::vector<std::string>
      test_scenarios{};  ///< one for each of the last files, which become tests
  int64_t max_nodes = 12;
  int64_t node_features = 3, edge_features = 2;
  int64_t window = 100, stride = 100;
  uint64_t seed = 1;
};

/// Sound arrays: ids in range, edges ordered and unique, labels -1, 0 and 1. Graphs without edges
/// occur.
inline graph::GraphStoreData random_graphs(const RandomGraphs& wanted) {
  arrays::Random random(wanted.seed);
  graph::GraphStoreData data;
  data.node_features = wanted.node_features;
  data.edge_features = wanted.edge_features;
  data.sections.ids = {{0x100, 0x200, 0x2A0, 0x316, 0x7FF}};
  data.options = {{"window", wanted.window}, {"stride", wanted.stride}};
  for (int64_t f = 0; f < wanted.node_features; ++f) {
    data.node_feature_names.push_back("node_" + std::to_string(f));
  }
  for (int64_t f = 0; f < wanted.edge_features; ++f) {
    data.edge_feature_names.push_back("edge_" + std::to_string(f));
  }
  for (std::size_t file = 0; file < wanted.files.size(); ++file) {
    const std::size_t trains = wanted.files.size() - wanted.test_scenarios.size();
    graph::Source source;
    source.path = "log_" + std::to_string(file) + ".csv";
    source.role = file < trains ? "train" : "test";
    if (file >= trains) source.scenario = wanted.test_scenarios[file - trains];
    source.first_graph = static_cast<int64_t>(data.y.size());
    source.graphs = wanted.files[file];
    source.rows = source.graphs * wanted.stride + wanted.window;
    for (int64_t g = 0; g < source.graphs; ++g) {
      const uint64_t nodes = 1 + random.below(static_cast<uint64_t>(wanted.max_nodes));
      std::set<std::pair<int32_t, int32_t>> edges;
      for (uint64_t e = random.below(2 * nodes + 1); e > 0; --e) {
        edges.emplace(random.below(nodes), random.below(nodes));
      }
      for (uint64_t n = 0; n < nodes; ++n) {
        for (int64_t f = 0; f < wanted.node_features; ++f) {
          data.x.push_back(static_cast<float>(f == 0 ? random.below(6) : random.below(1000)));
        }
      }
      for (const auto& [from, to] : edges) {
        data.edge_source.push_back(from);
        data.edge_target.push_back(to);
        for (int64_t f = 0; f < wanted.edge_features; ++f) {
          data.edge_attr.push_back(static_cast<float>(random.uniform()));
        }
      }
      data.node_ptr.push_back(data.node_ptr.back() + static_cast<int64_t>(nodes));
      data.edge_ptr.push_back(data.edge_ptr.back() + static_cast<int64_t>(edges.size()));
      data.y.push_back(static_cast<int32_t>(random.below(3)) - 1);
      data.source_of.push_back(static_cast<int32_t>(file));
      data.row_begin.push_back(g * wanted.stride);
      data.row_end.push_back(g * wanted.stride + wanted.window);
    }
    data.sources.push_back(source);
  }
  return data;
}

/// Writes random_graphs() to `path` and opens it.
inline graph::GraphStore random_store(const std::filesystem::path& path,
                                      const RandomGraphs& wanted = {}) {
  graph::write_graph_store(path, random_graphs(wanted));
  return graph::GraphStore::open(path);
}

/// The numbers of all graphs of a store, ascending.
inline std::vector<int64_t> all_ids(const graph::GraphStore& store) {
  std::vector<int64_t> ids(static_cast<std::size_t>(store.graphs()));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace kdgat::test
