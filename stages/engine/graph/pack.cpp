#include "engine/graph/pack.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "engine/arrays/random.h"
#include "engine/graph/graph_arrays.h"

namespace kdgat::graph {

namespace {

template <class Section>
void gather_section(const GraphArrays& all, std::span<const int64_t> ids, GraphBatch& out) {
  typename Section::Batch& batch = out;
  const Section* section = nullptr;
  if (all.sections != nullptr && all.sections->get<Section>()) {
    section = &*all.sections->get<Section>();
  }
  if (section == nullptr) {
    batch = {};
    return;
  }
  section->gather(all, ids, {out.node_ptr.data(), ids.size() + 1}, batch);
}

/// Rows of `width` floats, picked by `order`. A width known to the compiler makes each row a few
/// vector moves instead of a call.
template <int kWidth>
void copy_rows(const float* from, std::span<const int32_t> order, int64_t any_width, float* to) {
  const int64_t width = kWidth > 0 ? kWidth : any_width;
  for (const int32_t position : order) {
    std::memcpy(to, from + position * width, static_cast<std::size_t>(width) * sizeof(float));
    to += width;
  }
}

}  // namespace

void GraphStore::gather(std::span<const int64_t> ids, bool with_edge_attr, GraphBatch& out) const {
  graph::gather(arrays_of(*this), ids, with_edge_attr, out);
}

StepTotals GraphStore::size_of(int64_t id) const {
  const auto g = static_cast<std::size_t>(id);
  StepTotals out;
  out.graphs = 1;
  out.nodes = node_ptr_[g + 1] - node_ptr_[g];
  out.edges = edge_ptr_[g + 1] - edge_ptr_[g];
  if (const PathCounts* paths = path_counts()) out.paths = paths->of_graph(node_ptr_, g);
  if (const Trees* of_store = trees()) {
    const arrays::Relations relations = of_store->relations_of(g);
    out.relations = relations.edges;
    out.internal = relations.internal;
    out.negatives = negatives_of(relations);
  }
  return out;
}

void gather(const GraphArrays& all, std::span<const int64_t> ids, bool with_edge_attr,
            GraphBatch& out) {
  const int64_t* node_ptr = all.node_ptr.data();
  const int64_t* edge_ptr = all.edge_ptr.data();
  const int64_t node_features = all.node_features, edge_features = all.edge_features;
  int64_t nodes = 0, edges = 0;
  for (const int64_t id : ids) {
    nodes += node_ptr[id + 1] - node_ptr[id];
    edges += edge_ptr[id + 1] - edge_ptr[id];
  }
  if (std::max(nodes, edges) >= std::numeric_limits<int32_t>::max()) {
    throw Error(ExitCode::kDoesNotFit,
                "a batch of " + std::to_string(ids.size()) + " graphs has " +
                    std::to_string(nodes) + " nodes and " + std::to_string(edges) +
                    " edges, more than 32-bit numbers can name",
                "lower the batch size");
  }
  const auto graphs = static_cast<int64_t>(ids.size());
  out.graphs = graphs;
  out.nodes = nodes;
  out.edges = edges;
  out.node_features = node_features;
  out.edge_features = edge_features;
  out.x.resize(nodes * node_features);
  out.node_ptr.resize(graphs + 1);
  out.in_ptr.resize(nodes + 1);
  out.in_source.resize(edges);
  out.edge_attr.resize(with_edge_attr ? edges * edge_features : 0);
  out.y.resize(graphs);
  out.graph_id.resize(graphs);

  const float* x = all.x.data();
  const float* edge_attr = all.edge_attr.data();
  const int32_t* source = all.edge_source.data();
  const int32_t* target = all.edge_target.data();
  const int32_t* target_order = all.target_order.data();
  const auto copy_attr = edge_features == 11 ? copy_rows<11> : copy_rows<0>;
  int32_t* in_ptr = out.in_ptr.data();
  std::fill(in_ptr, in_ptr + nodes + 1, 0);
  int64_t node = 0, edge = 0;
  for (int64_t i = 0; i < graphs; ++i) {
    const int64_t id = ids[static_cast<std::size_t>(i)];
    const int64_t first_node = node_ptr[id], first_edge = edge_ptr[id];
    const int64_t n = node_ptr[id + 1] - first_node, e = edge_ptr[id + 1] - first_edge;
    out.node_ptr[i] = static_cast<int32_t>(node);
    out.y[i] = all.y[static_cast<std::size_t>(id)];
    out.graph_id[i] = id;
    if (n * node_features > 0) {  // memcpy refuses null even for no bytes
      std::memcpy(out.x.data() + node * node_features, x + first_node * node_features,
                  static_cast<std::size_t>(n * node_features) * sizeof(float));
    }
    const int32_t* order = target_order + first_edge;
    const int32_t* from = source + first_edge;
    const int32_t* to = target + first_edge;
    int32_t* in_source = out.in_source.data() + edge;
    int32_t* incoming = in_ptr + node + 1;
    for (int64_t k = 0; k < e; ++k) {
      in_source[k] = from[order[k]] + static_cast<int32_t>(node);
      ++incoming[to[k]];
    }
    if (with_edge_attr && edge_features > 0) {
      copy_attr(edge_attr + first_edge * edge_features, {order, static_cast<std::size_t>(e)},
                edge_features, out.edge_attr.data() + edge * edge_features);
    }
    node += n;
    edge += e;
  }
  out.node_ptr[graphs] = static_cast<int32_t>(nodes);
  std::partial_sum(in_ptr, in_ptr + nodes + 1, in_ptr);
  gather_section<Positions>(all, ids, out);
  gather_section<Trees>(all, ids, out);
  gather_section<PathCounts>(all, ids, out);
  gather_section<Targets>(all, ids, out);
}

int64_t negatives_of(const arrays::Relations& relations) {
  return relations.unrelated > 0 ? std::min(relations.edges, kNegatives) : 0;
}

PackPlan make_pack_plan(const GraphSet& set, std::span<const int64_t> ids, const PackLimits& limits,
                        bool shuffle, uint64_t seed, int64_t epoch) {
  PackPlan plan;
  plan.order.assign(ids.begin(), ids.end());
  if (shuffle) arrays::Random(seed, static_cast<uint64_t>(epoch)).shuffle(plan.order);

  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const auto bound = [](int64_t limit) { return limit > 0 ? limit : kNone; };
  const int64_t max_nodes = bound(limits.nodes), max_edges = bound(limits.edges);
  const int64_t max_paths = bound(limits.paths);
  const auto total = static_cast<int64_t>(ids.size());
  const auto share = [](int64_t graphs, int64_t packs) {
    return packs > 0 ? (graphs + packs - 1) / packs : kNone;
  };
  int64_t max_graphs = 0, graphs = 0, nodes = 0, edges = 0, paths = 0;
  for (int64_t i = 0; i < total; ++i) {
    const int64_t id = plan.order[static_cast<std::size_t>(i)];
    const StepTotals size = set.size_of(id);
    if (size.nodes > max_nodes || size.edges > max_edges) {
      throw Error(ExitCode::kDoesNotFit,
                  "graph " + std::to_string(id) + " has " + std::to_string(size.nodes) +
                      " nodes and " + std::to_string(size.edges) + " edges, more than a step may");
    }
    if (i > 0 && (graphs == max_graphs || size.nodes > max_nodes - nodes ||
                  size.edges > max_edges - edges || size.paths > max_paths - paths)) {
      plan.ptr.push_back(i);
      graphs = nodes = edges = paths = 0;
    }
    if (graphs == 0) {
      // The second share keeps enough graphs for the packs still owed.
      max_graphs = std::min({bound(limits.graphs), share(total, limits.min_packs),
                             share(total - i, limits.min_packs - plan.packs())});
    }
    ++graphs;
    nodes += size.nodes;
    edges += size.edges;
    paths += size.paths;
  }
  if (total > 0) plan.ptr.push_back(total);
  return plan;
}

}  // namespace kdgat::graph
