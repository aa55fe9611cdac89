// Attention over incoming edges and one self-loop a node; rules as in tables.h.
#pragma once

#include <cstdint>

#include "engine/kernels/cpu/isa/basics.h"

namespace kdgat::kernels::isa {

/// Attention over incoming edges and one self-loop a node, on h [N, heads*channels].
template <class T>
struct GatArgs {
  const T* h;
  const T* att_src;  ///< [heads*channels]
  const T* att_dst;
  const T* bias;             ///< [heads*channels]
  const int32_t* in_ptr;     ///< [N+1]
  const int32_t* in_source;  ///< [E]; edges from a node to itself are skipped
  int64_t heads, channels;
  T slope;       ///< of the leaky ReLU on scores
  T* alpha_src;  ///< [N, heads] scores of nodes as sources; written by forward
  T* alpha_dst;
  T* log_sum;  ///< [N, heads] log of the softmax denominator of each target
  T* out;      ///< [N, heads*channels]
};

template <class T>
struct GatGradArgs {
  GatArgs<T> forward;  ///< bias and out are not read
  const T* grad_out;   ///< [N, heads*channels]
  T* grad_h;
  T* grad_alpha_src;  ///< [N, heads] workspace
  T* grad_alpha_dst;
};

/// Attention of the second kind over incoming edges with features and one self-loop a node, whose
/// features are the mean of the node's incoming ones.
template <class T>
struct Gatv2Args {
  const T* l;                ///< [N, heads*channels] nodes as sources
  const T* r;                ///< the same as targets
  const T* edge_attr;        ///< [E, features], by target
  const T* lin_edge;         ///< [features, heads*channels]
  const T* att;              ///< [heads*channels]
  const T* bias;             ///< [heads*channels]
  const int32_t* in_ptr;     ///< [N+1]
  const int32_t* in_source;  ///< [E]; edges from a node to itself are skipped
  int64_t heads, channels, features, edges;
  T slope;   ///< of the leaky ReLU on sums
  T* alpha;  ///< [E + N, heads] softmax of the scores, self-loops last; written by forward
  T* out;    ///< [N, heads*channels]
};

template <class T>
struct Gatv2GradArgs {
  Gatv2Args<T> forward;
  const T* grad_out;  ///< [N, heads*channels]
  T* grad_l;
  T* grad_r;
};

template <class T>
struct GatTable {
  /// Nodes [begin, end), which hold whole graphs.
  void (*forward)(const GatArgs<T>&, int64_t begin, int64_t end);
  /// As above; `partial` [3, heads*channels] receives the gradients of att_src, att_dst and bias.
  void (*backward)(const GatGradArgs<T>&, int64_t begin, int64_t end, T* partial);

  /// As above; `row` [heads*channels + features] is workspace.
  void (*forward_v2)(const Gatv2Args<T>&, int64_t begin, int64_t end, T* row);
  /// `partial` [2 + features, heads*channels] receives the gradients of att, bias and lin_edge.
  void (*backward_v2)(const Gatv2GradArgs<T>&, int64_t begin, int64_t end, T* row, T* partial);
};

}  // namespace kdgat::kernels::isa
