#include "fields/space/objective/tree_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "support/graphs/spatial_graphs.h"

namespace kdgat::space {
namespace {

using test::is_ancestor;
using test::make_spatial_batch;
using test::random_tree;
using test::random_trees;
using test::relations_of;
using test::root_of;
using test::SpatialGraph;

int64_t graph_of(const graph::GraphBatch& batch, int64_t v) {
  int64_t g = 0;
  while (batch.node_ptr[g + 1] <= v) ++g;
  return g;
}

/// Pairs by graph, as local numbers.
std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> by_graph(const graph::GraphBatch& batch,
                                                                     const NodePairs& pairs) {
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> out;
  for (std::size_t i = 0; i < pairs.first.size(); ++i) {
    const int64_t g = graph_of(batch, pairs.first[i]);
    out[batch.graph_id[g]].emplace_back(pairs.first[i] - batch.node_ptr[g],
                                        pairs.second[i] - batch.node_ptr[g]);
  }
  return out;
}

TEST_CASE("pairs of parent and child are those of every node but the roots", "[tree]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(10, 1));
  const NodePairs pairs = parent_child_pairs(batch);
  REQUIRE(pairs.first.size() == pairs.second.size());
  std::set<int64_t> children;
  for (std::size_t i = 0; i < pairs.first.size(); ++i) {
    CHECK(batch.parent[pairs.second[i]] == pairs.first[i]);
    children.insert(pairs.second[i]);
  }
  const auto roots = std::count(batch.parent.data(), batch.parent.data() + batch.nodes, -1);
  CHECK(static_cast<int64_t>(children.size()) == batch.nodes - roots);
  CHECK(pairs.size() == batch.nodes - roots);
}

TEST_CASE("unrelated pairs are of one tree, unrelated, and as many as are counted",
          "[tree][property]") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const graph::GraphBatch batch = make_spatial_batch(random_trees(10, 100 + seed));
    const NodePairs pairs = unrelated_pairs(batch, seed, 3);
    for (std::size_t i = 0; i < pairs.first.size(); ++i) {
      const int64_t a = pairs.first[i], b = pairs.second[i];
      REQUIRE(a != b);
      REQUIRE(root_of(batch, a) == root_of(batch, b));
      REQUIRE_FALSE(is_ancestor(batch, a, b));
      REQUIRE_FALSE(is_ancestor(batch, b, a));
    }
    const auto of_graphs = by_graph(batch, pairs);
    for (int64_t g = 0; g < batch.graphs; ++g) {
      const auto found = of_graphs.find(batch.graph_id[g]);
      const auto drawn = found == of_graphs.end() ? 0 : found->second.size();
      CHECK(static_cast<int64_t>(drawn) == graph::negatives_of(relations_of(batch, g)));
    }
  }
}

TEST_CASE("a large graph gives no more unrelated pairs than the bound, a chain none", "[tree]") {
  const graph::GraphBatch batch =
      make_spatial_batch({random_tree(300, 5), random_tree(50, 6, 2, 1)});
  const NodePairs pairs = unrelated_pairs(batch, 1, 1);
  CHECK(pairs.size() == graph::kNegatives);
  CHECK(*std::max_element(pairs.first.begin(), pairs.first.end()) < 300);
}

TEST_CASE("unrelated pairs of a graph depend on seed, step and its id alone", "[tree][property]") {
  std::vector<SpatialGraph> graphs = random_trees(8, 7);
  const graph::GraphBatch together = make_spatial_batch(graphs);
  const auto all = by_graph(together, unrelated_pairs(together, 5, 11));
  CHECK(by_graph(together, unrelated_pairs(together, 5, 11)) == all);
  CHECK(by_graph(together, unrelated_pairs(together, 6, 11)) != all);
  CHECK(by_graph(together, unrelated_pairs(together, 5, 12)) != all);
  std::reverse(graphs.begin(), graphs.end());
  const graph::GraphBatch reversed = make_spatial_batch(graphs);
  CHECK(by_graph(reversed, unrelated_pairs(reversed, 5, 11)) == all);
  for (const SpatialGraph& graph : graphs) {
    const graph::GraphBatch alone = make_spatial_batch({graph});
    const auto pairs = by_graph(alone, unrelated_pairs(alone, 5, 11));
    if (!all.contains(graph.id)) {
      CHECK(pairs.empty());
    } else {
      CHECK(pairs.at(graph.id) == all.at(graph.id));
    }
  }
}

TEST_CASE("every unrelated pair is drawn equally often, in both orders", "[tree][property]") {
  const SpatialGraph tree = random_tree(9, 21, 2, 9);
  const graph::GraphBatch batch = make_spatial_batch({tree});
  const arrays::Relations relations = relations_of(batch, 0);
  REQUIRE(relations.unrelated > 5);
  std::map<std::pair<int64_t, int64_t>, int64_t> drawn;
  int64_t draws = 0;
  for (int64_t step = 0; step < 2000; ++step) {
    const NodePairs pairs = unrelated_pairs(batch, 3, step);
    for (std::size_t i = 0; i < pairs.first.size(); ++i) {
      ++drawn[{pairs.first[i], pairs.second[i]}];
      ++draws;
    }
  }
  REQUIRE(static_cast<int64_t>(drawn.size()) == 2 * relations.unrelated);
  const double expected = static_cast<double>(draws) / static_cast<double>(drawn.size());
  for (const auto& [pair, count] : drawn) {
    INFO(pair.first << " " << pair.second);
    CHECK(std::abs(static_cast<double>(count) - expected) < 5 * std::sqrt(expected));
  }
}

TEST_CASE("upward edges lead from each node to its parent", "[tree]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(6, 2));
  const UpwardEdges upward(batch);
  const arrays::OutEdges edges = upward.edges();
  REQUIRE(edges.nodes() == batch.nodes);
  for (std::size_t v = 0; v < static_cast<std::size_t>(batch.nodes); ++v) {
    const int32_t parent = batch.parent[static_cast<int64_t>(v)];
    REQUIRE(edges.ptr[v + 1] - edges.ptr[v] == (parent >= 0 ? 1 : 0));
    if (parent >= 0) CHECK(edges.target[static_cast<std::size_t>(edges.ptr[v])] == parent);
  }
}

}  // namespace
}  // namespace kdgat::space
