// What the kernels of gat.cuh read and write; pointers are to memory of the card.
//
// N nodes, E edges, K heads of `channels` columns, C = K * channels, D features of an edge. Arrays
// of edges have one row more for each node: row E + i is node i's own loop. Edges from a node to
// itself are left out.
#pragma once

#include "engine/kernels/cuda/source/sums_args.h"

namespace kdgat::kernels::cuda {

template <class T>
struct GatArgs {
  Edges edges;
  Int heads, channels;
  T slope;
  const T *h, *att_src, *att_dst, *bias;  ///< [N,C], [C] each
  T *alpha_src, *alpha_dst, *log_sum;     ///< [N,K]; log_sum of the weights of each softmax
  T* out;                                 ///< [N,C]
};

template <class T>
struct GatGradArgs {
  GatArgs<T> forward;
  const T* grad_out;                   ///< [N,C]
  T* mean;                             ///< [N,K] <grad_out, out - bias>
  T *weight, *change;                  ///< [E+N,K] of the softmax; gradients of its raw scores
  T *grad_alpha_src, *grad_alpha_dst;  ///< [N,K]
  T* grad_h;                           ///< [N,C]
  T* partials;                         ///< [blocks of rows, 2, C]: gradients of att_src, att_dst
};

template <class T>
struct Gatv2Args {
  Edges edges;
  Int heads, channels, features;
  T slope;
  const T *l, *r, *edge_attr, *lin_edge, *att, *bias;  ///< [N,C] twice, [E,D], [D,C], [C] twice
  T* loop_attr;                                        ///< [N,D] mean over the incoming edges
  T* alpha;                                            ///< [E+N,K]
  T* out;                                              ///< [N,C]
};

/// Rows of partials that a block makes at once.
constexpr int kGatv2Rows = 4;

template <class T>
struct Gatv2GradArgs {
  Gatv2Args<T> forward;
  const T* grad_out;   ///< [N,C]
  T* mean;             ///< [N,K] <grad_out, out - bias>
  T* change;           ///< [E+N,K] gradients of scores
  T *grad_l, *grad_r;  ///< [N,C]
  T* partials;         ///< [blocks of edges, 1+D, C]: gradients of att, lin_edge
};

}  // namespace kdgat::kernels::cuda
