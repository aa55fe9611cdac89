// Messages along third-order paths, columns [begin, end) of their rows, and radial basis functions;
// rules as in tables.h.
#pragma once

#include <cstdint>

namespace kdgat::kernels::isa {

/// Rows of paths (or of triplets) in runs, one a triplet (or an arc); see engine/arrays/paths.h.
template <class T>
struct RunArgs {
  const int32_t* ptr;   ///< [runs+1] rows of each run
  const int32_t* node;  ///< [rows]
  int64_t runs, columns;
  T* x;       ///< [rows, columns]
  T* of_run;  ///< [runs, columns]
  T* table;   ///< row of node v: table + v * stride
  int64_t stride;
  bool relu;
};

/// Rows of paths in runs of the same start.
template <class T>
struct StartArgs {
  const int32_t* ptr;   ///< [runs+1]
  const int32_t* node;  ///< [runs] start of the paths of a run
  int64_t runs, columns;
  T* x;           ///< [rows, columns]
  const T* bias;  ///< [columns]
};

/// Gaussians exp(-(x - m spacing)^2 / (2 spacing^2)), m = 0 .. centres-1, of each x.
template <class T>
struct SmearArgs {
  const T* x;  ///< [rows]
  T* out;      ///< row r: out + r * stride
  int64_t stride, centres;
  T spacing, period;  ///< 0: not periodic
};

template <class T>
struct PathTable {
  /// x[row] += of_run[run of row] + table[node[row]], then ReLU if asked for.
  void (*add_runs)(const RunArgs<T>&, int64_t begin, int64_t end);
  /// Its backward: x holds gradients, `out` what add_runs gave (read with ReLU alone). x is masked;
  /// of_run[r] becomes the sum over its rows, table[node[row]] grows by x[row].
  void (*sum_runs)(const RunArgs<T>&, const T* out, int64_t begin, int64_t end);
  /// sums[node of the run] += relu(x[row] + bias).
  void (*relu_sum)(const StartArgs<T>&, T* sums, int64_t begin, int64_t end);
  /// x becomes the gradient of relu_sum; grad_bias grows.
  void (*relu_sum_backward)(const StartArgs<T>&, const T* grad_sums, T* grad_bias, int64_t begin,
                            int64_t end);
  /// Rows [begin, end).
  void (*smear)(const SmearArgs<T>&, int64_t begin, int64_t end);
};

}  // namespace kdgat::kernels::isa
