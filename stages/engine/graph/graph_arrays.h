// Graphs as plain arrays, wherever they stand: in a store, or in windows just built. Views only; no
// LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/graph/graph_store.h"
#include "engine/graph/pack.h"

namespace kdgat::graph {

/// What a batch is gathered from.
struct GraphArrays : CommonArrays {
  const Sections* sections = nullptr;  ///< null = none
};

GraphArrays arrays_of(const GraphStore& store);
/// `target_order` is that of target_order_of(data). Both outlive the views.
GraphArrays arrays_of(const GraphStoreData& data, std::span<const int32_t> target_order);

/// Local positions of each graph's edges ordered by (target, source), as write_graph_store keeps
/// them. Large ones stand in a nameless file of `folder`, if it is given one.
arrays::Column<int32_t> target_order_of(const GraphStoreData& data,
                                        const std::filesystem::path& folder = {});

/// Replaces `out` by the graphs `ids` of `from`, in that order. Ids must be in range.
void gather(const GraphArrays& from, std::span<const int64_t> ids, bool with_edge_attr,
            GraphBatch& out);

}  // namespace kdgat::graph
