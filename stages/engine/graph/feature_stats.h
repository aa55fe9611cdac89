// Mean and deviation of the features of some graphs of a store.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/graph/graph_store.h"

namespace kdgat::graph {

struct ColumnStats {
  std::vector<double> mean, deviation;  ///< of the population; 0 where there are no rows
};

/// Of the node features of graphs `ids`, from the second on (the first names the identifier) or, of
/// nodes without identifiers, from column `first` = 0 on.
ColumnStats node_stats(const GraphStore& store, std::span<const int64_t> ids, int64_t first = 1);
/// Of all edge features.
ColumnStats edge_stats(const GraphStore& store, std::span<const int64_t> ids);

/// Mean of log(d + 1) over the nodes, d being how many edges end there, but for those from the node
/// itself; 1 where there is no such edge.
double mean_log_degree(const GraphStore& store, std::span<const int64_t> ids);

}  // namespace kdgat::graph
