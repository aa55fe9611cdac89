// What the kernels of product.cuh read and write; pointers are to memory of the card. One path of a
// tensor product at a time (fields/molecules/model/couplings.h): states of u channels with A
// components, coupled with 9 harmonics to C components. Hidden numbers h of an edge have one more
// that is 1.
#pragma once

#include "engine/kernels/cuda/source/sizes.h"

namespace kdgat::kernels::cuda {

/// Terms of a coupling of degrees up to 2, at most.
constexpr int kMostTerms = 64;

/// z[c] = sum of value y[b] x[a].
template <class T>
struct Terms {
  int count;
  signed char a[kMostTerms], b[kMostTerms], c[kMostTerms];
  T value[kMostTerms];
};

/// Edges ordered by target, of the path's nodes all; by_source their numbers by source.
struct ProductEdgeLists {
  const int *source, *target, *target_ptr, *source_ptr, *by_source;
};

template <class T>
struct ProductArgs {
  Int nodes, edges, dim, offset, channels, from, to, width;  ///< A = from, C = to; H = width
  Int begin, end, first_edge, last_edge;  ///< nodes of a block, and the edges into them
  ProductEdgeLists lists;
  Terms<T> terms;
  const T *x, *y,
      *hidden;     ///< [N,dim], those of the path from column `offset`, [u][a]; [E,9]; [E,H]
  T* z;            ///< [E,C,u]
  T* mixed;        ///< [end-begin,C,H+1,u] sums of h z over the edges into each node; its gradient
  T* grad_z;       ///< [E,C,u]
  T* grad_hidden;  ///< [E,H] grows
  T* grad_x;       ///< [N,dim] grows
};

}  // namespace kdgat::kernels::cuda
