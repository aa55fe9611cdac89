// What the kernels of paths.cuh read and write; pointers are to memory of the card. See paths.h.
#pragma once

#include "engine/kernels/cuda/source/sizes.h"

namespace kdgat::kernels::cuda {

/// A chunk of paths and their geometry, in the type of the positions.
template <class T>
struct GeometryArgs {
  Int arcs, triplets, paths;
  const int *i, *j, *triplet_ptr, *k, *path_ptr, *p;  ///< as in arrays::PathChunk
  const T* pos;                                       ///< [N, 3]
  T* d_ij;                                            ///< [arcs]
  T *d_jk, *theta_ijk;                                ///< [triplets]
  T *d_jp, *theta_ijp, *phi;                          ///< [paths]
};

/// Gaussians of x [count]: columns of `out`, whose rows are `stride` apart.
template <class T>
struct SmearArgs {
  Int count, centres, stride;
  T spacing, period;
  const T* x;
  T* out;
};

/// Rows in runs, ptr [runs+1], and the node each row reads, node [rows].
template <class T>
struct RunArgs {
  Int runs, columns;
  const int *ptr, *node;
  bool relu;
  T* x;                   ///< [rows, C]
  const T *of_run, *out;  ///< [runs, C]; of what `relu` masks, [rows, C]
  T* sums;                ///< [runs, C]
  Int nodes, stride;      ///< of the table, rows `stride` apart
  T* table;
  const Int* by_node;      ///< numbers of rows, by node
  const int* by_node_ptr;  ///< [nodes+1] the first of each node
};

/// Rows in runs, and the node at which each run starts.
template <class T>
struct StartArgs {
  Int runs, columns, nodes;
  const int *ptr, *node;      ///< [runs+1], [runs]
  const Int* by_node;         ///< numbers of runs, by node
  const int* by_node_ptr;     ///< [nodes+1]
  T* x;                       ///< [rows, C]; backward: becomes its gradient
  const T *bias, *grad_sums;  ///< [C], [nodes, C]
  T* sums;                    ///< [nodes, C]
};

}  // namespace kdgat::kernels::cuda
