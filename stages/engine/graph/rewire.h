// A null model of a graph's structure: the same nodes, sending and receiving as many edges as
// before, but to and from others at random. What still holds of rewired graphs was not said by who
// sends to whom.
#pragma once

#include <cstdint>

#include "engine/graph/pack.h"

namespace kdgat::graph {

/// Rewires each graph of `batch` in place, by switches (Maslov and Sneppen 2002): two edges drawn
/// at random exchange their targets, kSwitches times as often as the graph has edges between
/// different nodes. A switch that would make an edge twice, or an edge from a node to itself, is
/// left out, so the numbers of edges into and out of each node stay. Edges from a node to itself
/// stay, too, as layers put loops of their own in their place. An edge keeps its source and its
/// features; sources ascend within a target again. A function of `seed` and graph_id alone. The
/// batch has no trees and no counts of paths: they would be of the edges before.
void rewire(GraphBatch& batch, uint64_t seed);

/// Drawn for each edge; random graphs are reached by some ten (Milo and others,
/// arXiv cond-mat/0312028).
inline constexpr int64_t kSwitches = 10;

}  // namespace kdgat::graph
