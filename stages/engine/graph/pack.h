// Packs: which graphs form a step, and gathering them into one contiguous batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/arrays/buffer.h"
#include "engine/graph/exchange.h"
#include "engine/graph/graph_store.h"

namespace kdgat::graph {

/// A batch of graphs as one disconnected graph; node numbers are offset, edges stand by target
/// (compressed rows over incoming edges). What a section has of the graphs stands in its Batch,
/// which is empty where the store lacks it. Owns its memory; reuse it to avoid allocation.
struct GraphBatch : Positions::Batch, Trees::Batch, PathCounts::Batch, Targets::Batch {
  int64_t graphs = 0, nodes = 0, edges = 0, node_features = 0, edge_features = 0;
  arrays::Buffer<float> x;            ///< [nodes, node_features]
  arrays::Buffer<int32_t> node_ptr;   ///< [graphs+1]
  arrays::Buffer<int32_t> in_ptr;     ///< [nodes+1] first incoming edge of each node
  arrays::Buffer<int32_t> in_source;  ///< [edges] source node, offset, ascending within a target
  arrays::Buffer<float>
      edge_attr;              ///< [edges, edge_features] in the same order; empty unless asked for
  arrays::Buffer<int64_t> y;  ///< [graphs]
  arrays::Buffer<int64_t>
      graph_id;  ///< [graphs] index in the store: names the graph for counter-based noise

  /// Where other processes hold graphs of the same step; null = all are here. gather() leaves it.
  Exchange* exchange = nullptr;
};

/// set.gather().
inline void gather(const GraphSet& set, std::span<const int64_t> ids, bool with_edge_attr,
                   GraphBatch& out) {
  set.gather(ids, with_edge_attr, out);
}

/// Unrelated pairs drawn from a graph's trees for a step: as many as it has pairs of parent and
/// child, at most so many; none where all nodes are related.
inline constexpr int64_t kNegatives = 100;
int64_t negatives_of(const arrays::Relations& relations);

/// Upper bounds of one pack; 0 = no bound. `min_packs`: at least so many packs (so that a small
/// data set is not one batch), as far as there are graphs.
struct PackLimits {
  int64_t graphs = 0, nodes = 0, edges = 0, min_packs = 0;
  int64_t paths = 0;  ///< a graph with more stands alone; of PathCounts
};

/// Packs of an epoch: pack p is order[ptr[p] .. ptr[p+1]). Every id exactly once. A graph that
/// alone exceeds a bound throws Error(kDoesNotFit) naming it.
struct PackPlan {
  std::vector<int64_t> order;
  std::vector<int64_t> ptr{0};
  int64_t packs() const { return static_cast<int64_t>(ptr.size()) - 1; }
  std::span<const int64_t> pack(int64_t p) const {
    return {order.data() + ptr[static_cast<std::size_t>(p)],
            static_cast<std::size_t>(ptr[static_cast<std::size_t>(p) + 1] -
                                     ptr[static_cast<std::size_t>(p)])};
  }
};

/// The same order for the same (seed, epoch); `shuffle` false keeps the order of `ids`.
PackPlan make_pack_plan(const GraphSet& set, std::span<const int64_t> ids, const PackLimits& limits,
                        bool shuffle, uint64_t seed, int64_t epoch);

}  // namespace kdgat::graph
