// What the kernels of sums.cuh read and write; pointers are to memory of the card.
#pragma once

#include "engine/kernels/cuda/source/sizes.h"

namespace kdgat::kernels::cuda {

/// Edges of each node: in_ptr [N+1] and in_source [E] of those that come in; of those that go out
/// out_ptr [N+1], and out_edge [E] their numbers among those that come in; target [E] of each edge.
struct Edges {
  Int nodes, edges;
  const int *in_ptr, *in_source, *out_ptr, *out_edge, *target;
};

/// out [N, C]: sums of x over the neighbours.
template <class T>
struct SumArgs {
  Edges edges;
  Int columns;
  const T* x;
  T* out;
};

}  // namespace kdgat::kernels::cuda
