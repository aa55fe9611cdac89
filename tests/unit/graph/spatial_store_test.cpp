// The sections of a store that graphs in space add.
#include "graph/spatial_store.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <span>

#include "graph/random.h"
#include "graph/spatial.h"
#include "support/command.h"
#include "support/log_text.h"
#include "support/random_graphs.h"

namespace kdgat::graph {
namespace {

/// Random graphs with edges in both directions, places and spanning trees; five classes.
GraphStoreData spatial_graphs(uint64_t seed, int64_t graphs = 30) {
  Random random(seed);
  GraphStoreData data;
  data.node_features = 2;
  data.node_feature_names = {"a", "b"};
  data.spatial.classes = {"p", "q", "r", "s", "t"};
  data.sources = {{"n.swc", "", "train", "swc", 1000, 0, 0, graphs}};
  for (int64_t g = 0; g < graphs; ++g) {
    const uint64_t nodes = 1 + random.below(9);
    std::vector<int32_t> source, target;
    for (uint64_t e = random.below(3 * nodes); e > 0; --e) {
      const auto a = static_cast<int32_t>(random.below(nodes));
      const auto b = static_cast<int32_t>(random.below(nodes));
      source.insert(source.end(), {a, b});
      target.insert(target.end(), {b, a});
    }
    std::vector<float> pos;
    for (uint64_t n = 0; n < nodes; ++n) {
      for (int d = 0; d < 3; ++d) pos.push_back(static_cast<float>(random.uniform()));
      data.x.insert(data.x.end(), {-1.5F, static_cast<float>(random.uniform())});
    }
    const EdgeList edges = coalesce(source, target);
    const std::vector<int32_t> parent = spanning_forest(pos, edges.source, edges.target);
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(data.edge_source, edges.source);
    append(data.edge_target, edges.target);
    append(data.spatial.pos, pos);
    append(data.spatial.parent, parent);
    data.node_ptr.push_back(data.node_ptr.back() + static_cast<int64_t>(nodes));
    data.edge_ptr.push_back(static_cast<int64_t>(data.edge_source.size()));
    data.y.push_back(static_cast<int32_t>(random.below(6)) - 1);
    data.source_of.push_back(0);
    data.row_begin.push_back(g);
    data.row_end.push_back(g + 1);
  }
  return data;
}

/// Paths i->j->k->p of different nodes that start at `i`, and that of its own, by trying all.
int64_t paths_from(const GraphStore& store, std::size_t g, int32_t i) {
  const auto nodes = static_cast<int32_t>(store.node_ptr()[g + 1] - store.node_ptr()[g]);
  const auto is_edge = [&](int32_t a, int32_t b) {
    for (int64_t e = store.edge_ptr()[g]; e < store.edge_ptr()[g + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      if (store.edge_source()[at] == a && store.edge_target()[at] == b) return true;
    }
    return false;
  };
  int64_t count = 1;
  for (int32_t j = 0; j < nodes; ++j) {
    for (int32_t k = 0; k < nodes; ++k) {
      for (int32_t p = 0; p < nodes; ++p) {
        if (i == j || i == k || i == p || j == k || j == p || k == p) continue;
        count += is_edge(i, j) && is_edge(j, k) && is_edge(k, p);
      }
    }
  }
  return count;
}

TEST_CASE("a store of graphs in space holds what it was made from", "[spatial][store]") {
  const test::ScratchFolder folder;
  GraphStoreData data = spatial_graphs(1);
  write_graph_store(folder / "g", data);
  const GraphStore store = GraphStore::open(folder / "g");
  REQUIRE(store.is_spatial());
  CHECK(store.verify().empty());
  const SpatialArrays& spatial = store.spatial();
  CHECK(std::vector<float>(spatial.pos.begin(), spatial.pos.end()) == data.spatial.pos);
  CHECK(std::vector<int32_t>(spatial.parent.begin(), spatial.parent.end()) == data.spatial.parent);
  CHECK(spatial.classes == data.spatial.classes);
  for (const float target : spatial.target) CHECK(std::isnan(target));
  CHECK(store.facts().at("spatial").at("targets") == 0);
  CHECK(store.facts().at("attack") == 0);

  data.spatial.target.assign(data.y.size(), 2.5F);
  data.spatial.target[1] = std::numeric_limits<float>::quiet_NaN();
  write_graph_store(folder / "g", data);
  const GraphStore with_targets = GraphStore::open(folder / "g");
  CHECK(with_targets.verify().empty());
  CHECK(with_targets.spatial().target[0] == 2.5F);
  CHECK(with_targets.facts().at("spatial").at("targets") == 29);
}

TEST_CASE("numbers of paths and relations in a store are those found by trying all",
          "[spatial][store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", spatial_graphs(2));
  const GraphStore store = GraphStore::open(folder / "g");
  int64_t all = 0;
  for (std::size_t g = 0; g < static_cast<std::size_t>(store.graphs()); ++g) {
    const int64_t first = store.node_ptr()[g], nodes = store.node_ptr()[g + 1] - first;
    int64_t edges = 0;
    for (int64_t n = 0; n < nodes; ++n) {
      const auto at = static_cast<std::size_t>(first + n);
      const int64_t wanted = paths_from(store, g, static_cast<int32_t>(n));
      REQUIRE(store.spatial().paths[at] == wanted);
      all += wanted;
      edges += store.spatial().parent[at] >= 0;
    }
    CHECK(store.spatial().relations[3 * g] == edges);
  }
  CHECK(store.facts().at("spatial").at("paths").at("sum") == all);
}

TEST_CASE("a store without places has none of the sections", "[spatial][store]") {
  const test::ScratchFolder folder;
  const GraphStore store = test::random_store(folder / "g");
  CHECK_FALSE(store.is_spatial());
  CHECK_FALSE(store.facts().contains("spatial"));
  const SafetensorsFile file = SafetensorsFile::open(folder / "g");
  CHECK(file.tensors().size() == 11);
  CHECK_FALSE(file.metadata().contains("classes"));
  for (const Source& source : store.sources()) {
    CHECK_FALSE(nlohmann::json(source).contains("independent"));
  }
}

TEST_CASE("arrays of graphs in space that do not agree are not written", "[spatial][store]") {
  const test::ScratchFolder folder;
  const auto refused = [&](auto change) {
    GraphStoreData data = spatial_graphs(3);
    change(data);
    return test::data_error([&] { write_graph_store(folder / "g", data); });
  };
  CHECK_THAT(refused([](GraphStoreData& d) { d.y[4] = 5; }),
             Catch::Contains("graph 4 has the label 5"));
  CHECK_THAT(refused([](GraphStoreData& d) { d.spatial.pos.pop_back(); }),
             Catch::Contains("pos does not match node_ptr"));
  CHECK_THAT(refused([](GraphStoreData& d) { d.spatial.pos[2] = INFINITY; }),
             Catch::Contains("a position is not finite"));
  CHECK_THAT(refused([](GraphStoreData& d) { d.spatial.parent[0] = 0; }),
             Catch::Contains("the parents of graph 0 are no forest"));
  CHECK_THAT(refused([](GraphStoreData& d) { d.spatial.parent.push_back(-1); }),
             Catch::Contains("parent does not match"));
  CHECK_THAT(refused([](GraphStoreData& d) { d.spatial.target = {1}; }),
             Catch::Contains("target is not one number a graph"));
}

TEST_CASE("verify finds trees, tours and counts that are not those of the graph",
          "[spatial][store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", spatial_graphs(4));
  const auto faults = [&](const std::string& tensor, std::size_t bytes_in, char value) {
    std::string bytes = test::read_text(folder / "g");
    const SafetensorsFile file = SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "g");
    const auto at = reinterpret_cast<const char*>(file.tensor(tensor).data) - bytes.data();
    bytes[static_cast<std::size_t>(at) + bytes_in] = value;
    std::ofstream(folder / "bad", std::ios::binary) << bytes;
    std::string out;
    for (const Diagnostic& d : GraphStore::open(folder / "bad").verify()) out += d.message + "; ";
    return out;
  };
  CHECK_THAT(faults("parent", 0, 0x7f), Catch::Contains("has parents that are no forest"));
  CHECK_THAT(faults("tour", 0, 0x7f),
             Catch::Contains("has a tour that is not that of its parents"));
  CHECK_THAT(faults("paths", 0, 0x7f),
             Catch::Contains("has numbers of paths that are not those of its edges"));
  CHECK_THAT(faults("relations", 0, 0x7f),
             Catch::Contains("has relations that are not those of its parents"));
  CHECK_THAT(faults("y", 0, 0x7f), Catch::Contains("has a label that is none of the classes"));
}

}  // namespace
}  // namespace kdgat::graph
