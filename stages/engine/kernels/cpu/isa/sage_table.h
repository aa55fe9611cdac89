// Kernels of GraphSAGE layers on compressed rows: nothing the size of edges x channels exists.
// Rules as in tables.h.
#pragma once

#include <cstdint>

namespace kdgat::kernels::isa {

/// Rows of a graph, some of them: row r is that of node `node[r]`, or of node r where node is null.
struct SageRows {
  const int32_t* begin;  ///< [N] of a node's neighbours in col
  const int32_t* end;    ///< [N]
  const int32_t* col;
  const int32_t* node;  ///< [rows] or null
  int64_t rows;
};

template <class T>
struct SageArgs {
  SageRows graph;
  const T* h;  ///< row of node v: h + v * h_stride
  int64_t h_stride, columns;
  T* m;  ///< row r: m + r * m_stride
  int64_t m_stride;
  int32_t* argmax;  ///< [rows, columns] the node that is the largest; -1 = no neighbour (and m = 0)
};

template <class T>
struct SageGradArgs {
  SageRows graph;
  const T* grad_m;  ///< row r: grad_m + r * m_stride
  int64_t m_stride, columns;
  const int32_t* argmax;  ///< [rows, columns]; of max only
  T* grad_h;              ///< [N, columns], added to
};

/// Noise of a row of a layer: a function of base, node and column alone.
struct SageDrop {
  uint64_t base;
  int32_t threshold;  ///< hashes below it are dropped; 0 = none
};

template <class T>
struct SageActivation {
  const T* z;  ///< [rows, columns]
  const T* h;  ///< row r: h + r * h_stride; null = no residual
  const T* bias;
  int64_t h_stride, columns;
  SageDrop drop;
  T scale;  ///< 1 / (1 - p)
  T* out;   ///< row r: out + r * out_stride
  int64_t out_stride;
};

template <class T>
struct AdamArgs {
  T *weight, *first, *second;  ///< moments
  const T* grad;
  T lr, beta1, beta2, epsilon, decay;
  T correction1, correction2;  ///< 1 - beta^step; the root of it for the second
};

template <class T>
struct SageTable {
  /// Rows [begin, end).
  void (*max_rows)(const SageArgs<T>& args, int64_t begin, int64_t end);
  void (*mean_rows)(const SageArgs<T>& args, int64_t begin, int64_t end);
  /// Backward, columns [begin, end) of all rows.
  void (*max_scatter)(const SageGradArgs<T>& args, int64_t begin, int64_t end);
  void (*mean_scatter)(const SageGradArgs<T>& args, int64_t begin, int64_t end);
  /// out = dropout(relu(z + h + bias)), rows [begin, end); row r is node r.
  void (*activate)(const SageActivation<T>& args, int64_t begin, int64_t end);
  /// grad = out > 0 ? grad * scale : 0, [rows, columns] in place; row r of out: out + r * stride.
  void (*activate_grad)(const T* out, int64_t stride, int64_t columns, T scale, T* grad,
                        int64_t begin, int64_t end);
  /// Adam with an L2 term (Kingma and Ba, 2015), elements [begin, end).
  void (*adam)(const AdamArgs<T>& args, int64_t begin, int64_t end);
};

}  // namespace kdgat::kernels::isa
