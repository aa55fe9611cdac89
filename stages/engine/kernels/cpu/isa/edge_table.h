// What nodes get by their edges; rules as in tables.h.
#pragma once

#include <cstdint>

namespace kdgat::kernels::isa {

/// Edges are grouped by target: those into node i are in_ptr[i] .. in_ptr[i + 1] - 1. One from a
/// node to itself does not count. Rows have heads * channels columns; e may be null.
template <class T>
struct EdgeArgs {
  const int32_t* in_ptr;
  const int32_t* source;
  const T* own;      ///< of the target: q, or r; not read by relu_sums
  const T* of_node;  ///< of the source: x, k or l
  const T* value;    ///< of the source: v
  const T* e;        ///< of the edge
  int64_t columns, heads;
  T* alpha;                  ///< [E, heads], of attention
  int32_t *least, *largest;  ///< [N, columns], of statistics: which edge; -1: none
  T* out;                    ///< [N, columns], of statistics [N, 4 * columns]
};

/// What comes back: gradients of the rows above. Those of sources are added up from zero; edges
/// that do not count have zero.
template <class T>
struct EdgeGradArgs {
  EdgeArgs<T> forward;
  const T* grad_out;
  T *own, *of_node, *value, *e;
  T* score;  ///< [E, heads], of attention
};

/// For targets in [begin, end), which no other call writes to, nor to their neighbours backward.
template <class T>
struct EdgeTable {
  void (*relu_sums)(const EdgeArgs<T>&, int64_t begin, int64_t end);
  void (*relu_sums_backward)(const EdgeGradArgs<T>&, int64_t begin, int64_t end);
  void (*attention)(const EdgeArgs<T>&, int64_t begin, int64_t end);
  void (*attention_backward)(const EdgeGradArgs<T>&, int64_t begin, int64_t end);
  void (*statistics)(const EdgeArgs<T>&, int64_t begin, int64_t end);
  void (*statistics_backward)(const EdgeGradArgs<T>&, int64_t begin, int64_t end);
};

}  // namespace kdgat::kernels::isa
