// What the two forms of attention and their reference share.
#pragma once

#include <cstdint>

namespace kdgat::model {

/// Slope of the leaky ReLU of scores below 0, as published (GAT, Velickovic et al. 2018).
inline constexpr double kAttentionSlope = 0.2;
/// Nodes of the run of graphs that a thread takes at a time, about.
inline constexpr int64_t kAttentionBlock = 256;

}  // namespace kdgat::model
