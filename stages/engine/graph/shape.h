// Shape of trees in a few hand-crafted features: what a learned representation has to beat. Plain
// numbers; no LibTorch.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/graph/pack.h"

namespace kdgat::graph {

/// Counts and lengths as log(1 + x); angles in radians, 0 = straight on; asymmetry after van Pelt:
/// |a - b| / (a + b - 2) of the tips on the two largest sides of a branch point, its mean.
inline constexpr std::array<std::string_view, 15> kShapeFeatures = {
    "nodes",     "tips",        "branch_points", "largest_depth", "mean_depth",
    "length",    "mean_edge",   "edge_spread",   "longest_way",   "extent",
    "mean_turn", "turn_spread", "branch_angle",  "children",      "asymmetry"};

/// Of each graph's trees, [graphs, kShapeFeatures.size()], finite. The batch is in space.
std::vector<float> shape_features(const GraphBatch& batch);

}  // namespace kdgat::graph
