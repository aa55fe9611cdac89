// Rewired graphs: other edges, and everything else as it was.
#include "engine/graph/rewire.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "support/graphs/random_graphs.h"
#include "support/programs/command.h"

namespace kdgat::graph {
namespace {

using test::all_ids;
using test::random_store;
using test::RandomGraphs;

/// Source, target and features, as they stand in a batch.
using Edge = std::tuple<int32_t, int32_t, std::vector<float>>;

std::vector<Edge> edges_of(const GraphBatch& batch) {
  const int64_t width = batch.edge_attr.size() > 0 ? batch.edge_features : 0;
  std::vector<Edge> out;
  for (int32_t node = 0; node < batch.nodes; ++node) {
    for (int64_t e = batch.in_ptr[node]; e < batch.in_ptr[node + 1]; ++e) {
      const float* attr = batch.edge_attr.data() + e * width;
      out.emplace_back(batch.in_source[e], node,
                       width > 0 ? std::vector<float>(attr, attr + width) : std::vector<float>());
    }
  }
  return out;
}

/// Without their targets, in an order of their own.
std::vector<Edge> beginnings(std::vector<Edge> edges) {
  for (Edge& edge : edges) std::get<1>(edge) = 0;
  std::sort(edges.begin(), edges.end());
  return edges;
}

bool is_loop(const Edge& edge) { return std::get<0>(edge) == std::get<1>(edge); }

std::vector<Edge> loops(const std::vector<Edge>& edges) {
  std::vector<Edge> out;
  std::copy_if(edges.begin(), edges.end(), std::back_inserter(out), is_loop);
  return out;
}

template <class T>
std::vector<T> values(const arrays::Buffer<T>& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

/// One graph; edges as (source, target).
GraphBatch batch_of(int32_t nodes, std::vector<std::pair<int32_t, int32_t>> edges, int64_t id) {
  GraphBatch out;
  out.graphs = 1;
  out.nodes = nodes;
  out.edges = static_cast<int64_t>(edges.size());
  out.node_ptr.resize(2);
  out.node_ptr[0] = 0;
  out.node_ptr[1] = nodes;
  out.in_ptr.resize(nodes + 1);
  out.in_source.resize(out.edges);
  out.graph_id.resize(1);
  out.graph_id[0] = id;
  for (auto& [source, target] : edges) std::swap(source, target);
  std::sort(edges.begin(), edges.end());
  for (int32_t node = 0, e = 0; node <= nodes; ++node) {
    out.in_ptr[node] = e;
    for (; e < out.edges && edges[static_cast<std::size_t>(e)].first == node; ++e) {
      out.in_source[e] = edges[static_cast<std::size_t>(e)].second;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("rewired graphs keep nodes, edges in and out of each, and loops", "[rewire]") {
  const test::ScratchFolder folder;
  for (const int64_t edge_width : {0, 2, 11}) {
    RandomGraphs wanted;
    wanted.edge_features = edge_width;
    const GraphStore store = random_store(folder / "g", wanted);
    const std::vector<int64_t> ids = all_ids(store);
    const bool with_edge_attr = GENERATE(true, false);
    GraphBatch before, after;
    gather(store, ids, with_edge_attr, before);
    gather(store, ids, with_edge_attr, after);
    rewire(after, 42);
    CHECK(values(after.x) == values(before.x));
    CHECK(values(after.y) == values(before.y));
    CHECK(values(after.node_ptr) == values(before.node_ptr));
    REQUIRE(values(after.in_ptr) == values(before.in_ptr));
    const std::vector<Edge> old = edges_of(before), fresh = edges_of(after);
    // Sources, and the features that came with each: nothing of one graph went to another.
    CHECK(beginnings(fresh) == beginnings(old));
    CHECK(loops(fresh) == loops(old));
    REQUIRE(!loops(old).empty());
    for (std::size_t i = 1; i < fresh.size(); ++i) {
      if (std::get<1>(fresh[i]) != std::get<1>(fresh[i - 1])) continue;
      REQUIRE(std::get<0>(fresh[i]) > std::get<0>(fresh[i - 1]));  // ascending, and none twice
    }
    const auto moved = std::count_if(fresh.begin(), fresh.end(), [&](const Edge& edge) {
      return std::find(old.begin(), old.end(), edge) == old.end();
    });
    CHECK(moved > static_cast<std::ptrdiff_t>(fresh.size() / 4));
  }
}

TEST_CASE("how a graph is rewired depends on the seed and the graph alone", "[rewire]") {
  const test::ScratchFolder folder;
  const GraphStore store = random_store(folder / "g");
  const auto rewired = [&](const std::vector<int64_t>& ids, uint64_t seed) {
    GraphBatch batch;
    gather(store, ids, true, batch);
    rewire(batch, seed);
    return batch;
  };
  const std::vector<int64_t> ids = all_ids(store);
  const std::vector<Edge> whole = edges_of(rewired(ids, 7));
  CHECK(edges_of(rewired(ids, 7)) == whole);
  CHECK(edges_of(rewired(ids, 8)) != whole);
  // Graph by graph the edges are those of the whole, but for the numbers of the nodes.
  std::size_t at = 0;
  int32_t node = 0;
  for (const int64_t id : ids) {
    const GraphBatch alone = rewired({id}, 7);
    for (auto [source, target, attr] : edges_of(alone)) {
      REQUIRE(whole.at(at++) == Edge(source + node, target + node, attr));
    }
    node += static_cast<int32_t>(alone.nodes);
  }
  CHECK(at == whole.size());
}

TEST_CASE("every wiring is as likely as any other", "[rewire]") {
  // Three nodes send an edge each to one of three others: six ways, some 1000 times each.
  std::map<std::vector<int32_t>, int64_t> seen;
  constexpr int64_t kGraphs = 6000;
  for (int64_t id = 0; id < kGraphs; ++id) {
    GraphBatch batch = batch_of(6, {{0, 3}, {1, 4}, {2, 5}}, id);
    rewire(batch, 1);
    ++seen[values(batch.in_source)];
  }
  REQUIRE(seen.size() == 6);
  double chi_squared = 0;
  for (const auto& [wiring, count] : seen) {
    const double gap = static_cast<double>(count) - kGraphs / 6.0;
    chi_squared += gap * gap / (kGraphs / 6.0);
  }
  CHECK(chi_squared < 20.5);  // exceeded once in a thousand, five degrees of freedom
}

TEST_CASE("graphs that cannot be wired otherwise stay as they are", "[rewire]") {
  std::vector<std::pair<int32_t, int32_t>> complete, star, loop_alone;
  for (int32_t a = 0; a < 5; ++a) {
    for (int32_t b = 0; b < 5; ++b) {
      if (a != b) complete.emplace_back(a, b);
    }
    star.emplace_back(0, a + 1);
    loop_alone.emplace_back(a, a);
  }
  for (const auto& edges : {complete, star, loop_alone, {}}) {
    const GraphBatch before = batch_of(6, edges, 3);
    GraphBatch after = batch_of(6, edges, 3);
    rewire(after, 5);
    CHECK(values(after.in_source) == values(before.in_source));
  }
}

}  // namespace kdgat::graph
