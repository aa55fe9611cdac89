// What kernels and those who launch them both know. Read by NVRTC and by the C++ compiler: nothing
// is included, here and in all that stands beside it but the lists of arguments.
#pragma once

namespace kdgat::kernels::cuda {

using Int = long;  ///< int64_t

/// Threads of a block, of every kernel.
constexpr int kThreads = 256;
/// Neighbouring threads that share a dot product.
constexpr int kLanes = 8;
/// Dot products of a block.
constexpr int kGroups = kThreads / kLanes;
/// A block that sums columns has so many columns, and so many rows at a time.
constexpr int kTileColumns = 32;
constexpr int kTileRows = kThreads / kTileColumns;
/// Rows that a block of a sum over all rows takes.
constexpr int kRowsOfBlock = 256;

}  // namespace kdgat::kernels::cuda
