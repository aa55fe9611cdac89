// Graphs in space and trees, random and as batches, for tests of what runs on them. Needs torch
// first.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "support/graphs/batches.h"

namespace kdgat::test {

/// One graph in space with its forest; node numbers are local.
struct SpatialGraph : SmallGraph {
  std::vector<float> pos;       ///< three of each node
  std::vector<int32_t> parent;  ///< -1 = a root
  float target = std::numeric_limits<float>::quiet_NaN();
};

inline std::vector<float> random_numbers(int64_t count, double spread, arrays::Random& random) {
  std::vector<float> out;
  for (; count > 0; --count) out.push_back(static_cast<float>(spread * (2 * random.uniform() - 1)));
  return out;
}

/// Edges both ways between parent and child.
inline void add_tree_edges(SpatialGraph& graph) {
  for (int32_t v = 0; v < graph.nodes; ++v) {
    const int32_t parent = graph.parent[static_cast<std::size_t>(v)];
    if (parent < 0) continue;
    graph.edges.emplace(v, parent);
    graph.edges.emplace(parent, v);
  }
}

/// Places and features of nodes that are already counted.
inline void add_random_nodes(SpatialGraph& graph, int64_t features, arrays::Random& random) {
  graph.x = random_numbers(graph.nodes * features, 1, random);
  graph.pos = random_numbers(graph.nodes * 3, 2, random);
}

/// A tree whose nodes are numbered at random, so that a parent may come after its child. Each new
/// node hangs on one of the last `reach` (1 = a chain, `nodes` = a random recursive tree), or with
/// `roots` > 1 starts a tree of its own.
inline SpatialGraph random_tree(int64_t nodes, uint64_t seed, int64_t features = 2,
                                int64_t reach = 6, int64_t roots = 1) {
  arrays::Random random(seed);
  SpatialGraph out;
  out.nodes = nodes;
  add_random_nodes(out, features, random);
  std::vector<int32_t> number(static_cast<std::size_t>(nodes));
  std::iota(number.begin(), number.end(), 0);
  random.shuffle(number);
  out.parent.assign(number.size(), -1);
  const std::size_t of_each = number.size() / static_cast<std::size_t>(roots);
  for (std::size_t i = 0; i < number.size(); ++i) {
    const std::size_t in_tree = std::min(i / of_each, static_cast<std::size_t>(roots) - 1);
    const std::size_t before = i - in_tree * of_each;  // nodes of the same tree
    if (before == 0) continue;
    const uint64_t back =
        1 + random.below(std::min<uint64_t>(before, static_cast<uint64_t>(reach)));
    out.parent[static_cast<std::size_t>(number[i])] = number[i - back];
  }
  add_tree_edges(out);
  return out;
}

/// Points in space with edges to the `neighbours` nearest of each, one way, and a tree in which
/// each node hangs on the nearest of those before it.
inline SpatialGraph random_points(int64_t nodes, uint64_t seed, int64_t features = 5,
                                  int64_t neighbours = 4) {
  arrays::Random random(seed);
  SpatialGraph out;
  out.nodes = nodes;
  add_random_nodes(out, features, random);
  const auto distance = [&](int32_t a, int32_t b) {
    const float* pos = out.pos.data();
    return std::hypot(pos[3 * a] - pos[3 * b], pos[3 * a + 1] - pos[3 * b + 1],
                      pos[3 * a + 2] - pos[3 * b + 2]);
  };
  for (int32_t v = 0; v < nodes; ++v) {
    std::vector<int32_t> others;
    for (int32_t w = 0; w < nodes; ++w) {
      if (w != v) others.push_back(w);
    }
    std::sort(others.begin(), others.end(),
              [&](int32_t a, int32_t b) { return distance(v, a) < distance(v, b); });
    for (std::size_t n = 0; n < std::min(others.size(), static_cast<std::size_t>(neighbours));
         ++n) {
      out.edges.emplace(v, others[n]);
    }
    const auto nearest =
        std::find_if(others.begin(), others.end(), [v](int32_t w) { return w < v; });
    out.parent.push_back(nearest == others.end() ? -1 : *nearest);
  }
  return out;
}

/// Trees of several shapes: one node, a chain, a star, bushes, a forest. Graph ids differ.
inline std::vector<SpatialGraph> random_trees(int64_t count, uint64_t seed, int64_t features = 2) {
  std::vector<SpatialGraph> out;
  for (int64_t g = 0; g < count; ++g) {
    const uint64_t of_graph = seed + static_cast<uint64_t>(1000 * g);
    const auto nodes = static_cast<int64_t>(9 + 5 * (g % 4));
    switch (g % 5) {
      case 0:
        out.push_back(random_tree(nodes, of_graph, features));
        break;
      case 1:
        out.push_back(random_tree(nodes, of_graph, features, nodes));
        break;
      case 2:
        out.push_back(random_tree(nodes, of_graph, features, 1));
        break;
      case 3:
        out.push_back(random_tree(nodes, of_graph, features, 4, 2));
        break;
      default:
        out.push_back(random_tree(1, of_graph, features));
        break;
    }
    out.back().id = 500 + 3 * g;
    out.back().y = g % 2;
    out.back().target = static_cast<float>(g % 7);
  }
  return out;
}

/// Nodes of a tree in the order of the tour, parents before children, lower numbers first.
inline void visit_subtree(const std::vector<std::vector<int32_t>>& children, int32_t v,
                          int32_t& clock, int32_t* in, int32_t* out) {
  in[v] = clock++;
  for (const int32_t child : children[static_cast<std::size_t>(v)]) {
    visit_subtree(children, child, clock, in, out);
  }
  out[v] = clock;
}

inline graph::GraphBatch make_spatial_batch(const std::vector<SpatialGraph>& graphs) {
  const std::vector<SmallGraph> plain(graphs.begin(), graphs.end());
  const auto features = static_cast<int64_t>(graphs.at(0).x.size()) / graphs.at(0).nodes;
  graph::GraphBatch out = make_batch(plain, features);
  out.pos.resize(3 * out.nodes);
  out.parent.resize(out.nodes);
  out.tour_in.resize(out.nodes);
  out.tour_out.resize(out.nodes);
  out.out_ptr.resize(out.nodes + 1);
  out.out_target.resize(out.edges);
  out.target.resize(out.graphs);
  int32_t edge = 0;
  for (int64_t g = 0; g < out.graphs; ++g) {
    const SpatialGraph& graph = graphs[static_cast<std::size_t>(g)];
    const int32_t node = out.node_ptr[g];
    out.target[g] = graph.target;
    std::copy(graph.pos.begin(), graph.pos.end(), out.pos.data() + 3 * node);
    std::vector<std::vector<int32_t>> children(static_cast<std::size_t>(graph.nodes));
    auto at = graph.edges.begin();
    for (int32_t v = 0; v < graph.nodes; ++v) {
      const int32_t parent = graph.parent[static_cast<std::size_t>(v)];
      out.parent[node + v] = parent < 0 ? -1 : node + parent;
      if (parent >= 0) children[static_cast<std::size_t>(parent)].push_back(v);
      out.out_ptr[node + v] = edge;
      for (; at != graph.edges.end() && at->first == v; ++at) {
        out.out_target[edge++] = node + at->second;
      }
    }
    int32_t clock = 0;
    for (int32_t v = 0; v < graph.nodes; ++v) {
      if (graph.parent[static_cast<std::size_t>(v)] >= 0) continue;
      visit_subtree(children, v, clock, out.tour_in.data() + node, out.tour_out.data() + node);
    }
  }
  out.out_ptr[out.nodes] = edge;
  return out;
}

/// Whether `ancestor` is v or above it.
inline bool is_ancestor(const graph::GraphBatch& batch, int64_t ancestor, int64_t v) {
  while (v >= 0 && v != ancestor) v = batch.parent[v];
  return v == ancestor;
}

inline int64_t root_of(const graph::GraphBatch& batch, int64_t v) {
  while (batch.parent[v] >= 0) v = batch.parent[v];
  return v;
}

/// Of graph g, by looking at every pair.
inline arrays::Relations relations_of(const graph::GraphBatch& batch, int64_t g) {
  arrays::Relations out;
  const int32_t first = batch.node_ptr[g], end = batch.node_ptr[g + 1];
  for (int32_t v = first; v < end; ++v) {
    out.edges += batch.parent[v] >= 0;
    out.internal += std::count(batch.parent.data() + first, batch.parent.data() + end, v) > 0;
    for (int32_t w = first; w < v; ++w) {
      out.unrelated += root_of(batch, v) == root_of(batch, w) && !is_ancestor(batch, v, w) &&
                       !is_ancestor(batch, w, v);
    }
  }
  return out;
}

/// Of a batch that is a whole step; without paths.
inline graph::StepTotals totals_of(const graph::GraphBatch& batch) {
  graph::StepTotals out;
  out.graphs = batch.graphs;
  out.nodes = batch.nodes;
  out.edges = batch.edges;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const arrays::Relations of_graph = relations_of(batch, g);
    out.relations += of_graph.edges;
    out.internal += of_graph.internal;
    out.negatives += graph::negatives_of(of_graph);
  }
  return out;
}

}  // namespace kdgat::test
