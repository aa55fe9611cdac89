// Sums over the neighbours of nodes; rules as in tables.h.
#pragma once

#include <cstdint>

namespace kdgat::kernels::isa {

/// Edges are grouped by target: those into node i are in_ptr[i] .. in_ptr[i + 1] - 1. One from a
/// node to itself does not count.
template <class T>
struct SumArgs {
  const int32_t* in_ptr;
  const int32_t* source;
  const T* x;  ///< [N, columns]
  T* out;      ///< [N, columns]
  int64_t columns;
  T own;          ///< what a node's own row counts; 0: it is not read
  int64_t first;  ///< the node of x's first row, of scatter
};

template <class T>
struct SumTable {
  /// out_i = own * x_i + sum of x_j over the edges from j to i, in their order, for targets i in
  /// [begin, end).
  void (*gather)(const SumArgs<T>&, int64_t begin, int64_t end);
  /// Backward: out_i += own * x_i, and out_j += x_i over the same edges.
  void (*scatter)(const SumArgs<T>&, int64_t begin, int64_t end);
};

}  // namespace kdgat::kernels::isa
