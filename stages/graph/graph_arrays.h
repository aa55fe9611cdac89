// Graphs as plain arrays, wherever they stand: in a store, or in windows just built. Views only; no
// LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph_store.h"
#include "graph/pack.h"

namespace kdgat::graph {

/// What a batch is gathered from; shapes and order as in GraphStore.
struct GraphArrays {
  int64_t node_features = 0, edge_features = 0;
  std::span<const float> x, edge_attr;
  std::span<const int32_t> edge_source, edge_target, target_order, y;
  std::span<const int64_t> node_ptr, edge_ptr;
  const SpatialArrays* spatial = nullptr;  ///< null = not in space
};

GraphArrays arrays_of(const GraphStore& store);
/// `target_order` is that of target_order_of(data). Both outlive the views.
GraphArrays arrays_of(const GraphStoreData& data, std::span<const int32_t> target_order);

/// Local positions of each graph's edges ordered by (target, source), as write_graph_store keeps
/// them.
std::vector<int32_t> target_order_of(const GraphStoreData& data);

/// Replaces `out` by the graphs `ids` of `from`, in that order. Ids must be in range.
void gather(const GraphArrays& from, std::span<const int64_t> ids, bool with_edge_attr,
            GraphBatch& out);

}  // namespace kdgat::graph
