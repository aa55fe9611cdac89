// Pairs of nodes of the trees of a batch, and the edges that lead upwards in them. All integer
// work, linear in the nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/arrays/paths.h"
#include "engine/graph/pack.h"

namespace kdgat::space {

/// Row numbers of nodes of the batch.
struct NodePairs {
  std::vector<int64_t> first, second;
  int64_t size() const { return static_cast<int64_t>(first.size()); }
};

/// (parent, child) for every node that is no root.
NodePairs parent_child_pairs(const graph::GraphBatch& batch);

/// Of each graph, pairs of nodes of one tree of which neither is an ancestor of the other: as many
/// as graph::negatives_of says, drawn with replacement, each such pair in either order with the
/// same probability. Which ones depends on seed, step and the graph's id alone.
NodePairs unrelated_pairs(const graph::GraphBatch& batch, uint64_t seed, int64_t step);

/// One edge from each node to its parent.
struct UpwardEdges {
  std::vector<int32_t> ptr, target;

  explicit UpwardEdges(const graph::GraphBatch& batch);
  arrays::OutEdges edges() const { return {ptr, target}; }
};

}  // namespace kdgat::space
