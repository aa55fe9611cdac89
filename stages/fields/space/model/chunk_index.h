// A chunk's runs of paths as tensors. Private to path_messages.cpp and its tests.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/arrays/paths.h"

namespace kdgat::space {

/// A chunk's runs as tensors on a device; on the CPU they look into the chunk.
struct ChunkIndex {
  ChunkIndex(const arrays::PathChunk& chunk, at::Device device);

  int64_t arcs, triplets, paths;
  at::Tensor i_A, j_A;        ///< int32 nodes
  at::Tensor triplet_ptr_A1;  ///< int32
  at::Tensor k_T;
  at::Tensor path_ptr_T1;
  at::Tensor p_P;
  at::Tensor path_ptr_A1;  ///< int32 first path of each arc
};

}  // namespace kdgat::space
