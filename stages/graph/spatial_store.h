// What a store holds of graphs in space beside the arrays that every store has: computing, writing,
// reading and checking it. Used by graph_store.cpp alone. No LibTorch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "graph/graph_arrays.h"
#include "graph/graph_store.h"

namespace kdgat::graph {

/// What follows from the edges and trees of graphs; arrays as in SpatialArrays.
struct SpatialDerived {
  std::vector<int32_t> tour;
  std::vector<int64_t> paths, relations;
  int64_t triplets = 0, arcs = 0;  ///< beginnings of paths, in all: i->j->k and i->j
};

/// Why the arrays given cannot be written; empty when they can. Edges must be sound.
std::string spatial_fault(const GraphStoreData& data);
/// The arrays given must be without fault.
SpatialDerived derive_spatial(const GraphStoreData& data);

/// Puts the arrays into `writer`; all outlive it. `target` is data.spatial.target, or NaN for each
/// graph.
void add_spatial(const GraphStoreData& data, const SpatialDerived& derived,
                 std::span<const float> target, SafetensorsWriter& writer);
/// The value of facts()["spatial"].
nlohmann::json spatial_facts(const GraphStoreData& data, const SpatialDerived& derived);

/// Checks shapes alone. Throws Error(kData).
SpatialArrays read_spatial(const SafetensorsFile& file, int64_t graphs, int64_t nodes);
/// Why the arrays of graph `g` are not what they should be; empty when they are. Edges must be
/// sound.
std::string spatial_fault(const GraphArrays& graphs, std::size_t g);

/// "p50", "p95", "p99" and "max" of `sizes`, and their "sum".
nlohmann::json size_facts(std::vector<int64_t> sizes);

}  // namespace kdgat::graph
