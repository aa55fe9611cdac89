// Footprint of a training step of the geometric encoder, counted from shapes: as it runs on the
// CPU, and on a card with the kernels that it has (spatial_count.h).
#pragma once

#include "engine/kernels/kernels_for.h"
#include "engine/memory/memory_plan.h"
#include "fields/space/model/graph_head.h"
#include "fields/space/model/spatial_count.h"
#include "fields/space/model/tree_model.h"

namespace kdgat::space {

/// What a chunk of paths is made of, on average over a data set.
struct PathStatistics {
  double nodes = 1;     ///< of a graph
  double edges = 1;     ///< of a graph
  double paths = 1;     ///< of a graph, each node's own included
  double triplets = 1;  ///< of a graph that have paths
  double arcs = 1;      ///< of a graph that have paths
};

/// From the facts of a graph store of graphs in space.
PathStatistics path_statistics(const nlohmann::json& graph_facts);

/// Of a step of pre-training, or of a head. Static mode. The CPU's does not hold the model.
memory::Footprint footprint(const TreeModel& model, const SgmpStep& step,
                            const PathStatistics& paths);
memory::Footprint footprint(const GraphModel& model, const SgmpStep& step,
                            const PathStatistics& paths);

}  // namespace kdgat::space
