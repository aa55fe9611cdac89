// Norms, ReLU, dropout and means over rows; rules as in tables.h.
#pragma once

#include <cstdint>

#include "engine/kernels/cpu/isa/basics.h"

namespace kdgat::kernels::isa {

/// Bytes of a row of bits, one for each column.
static constexpr int64_t sign_bytes(int64_t columns) { return (columns + 7) / 8; }

template <class T>
struct NormTable {
  /// out = x > 0 and kept ? x * scale : 0, for the rows of one graph; out may be x. Which of a row
  /// are above zero becomes bits of sign_bytes(columns) bytes, or of none if `signs` is null.
  void (*relu_drop)(const T* x, int64_t rows, int64_t columns, DropKey key, T scale, T* out,
                    uint8_t* signs);
  /// grad_x = the bit is set ? grad * scale : 0; grad_x may be grad.
  void (*relu_drop_backward)(const uint8_t* signs, const T* grad, int64_t rows, int64_t columns,
                             T scale, T* grad_x);
  /// x * gain + shift by column, then relu_drop, for the rows of one graph.
  void (*norm_relu_drop)(const T* x, const T* gain, const T* shift, int64_t rows, int64_t columns,
                         DropKey key, T scale, T* out);
  /// The same where nothing is dropped: max(x * gain + shift, 0).
  void (*norm_relu)(const T* x, const T* gain, const T* shift, int64_t rows, int64_t columns,
                    T* out);
  /// By column: sums of (x - mean)^power, power 1 (mean may be null: 0) or 2.
  void (*column_sums)(const T* x, const T* mean, int64_t rows, int64_t columns, int power, T* sums);
  /// With g = out > 0 ? grad * scale : 0, by column: sums of g and of g * (x - mean).
  void (*norm_grad_sums)(const T* x, const T* mean, const T* out, const T* grad, T scale,
                         int64_t rows, int64_t columns, T* sum_g, T* sum_gx);
  /// grad_x = g * a - (x - mean) * b - c by column.
  void (*norm_grad)(const T* x, const T* mean, const T* out, const T* grad, T scale, const T* a,
                    const T* b, const T* c, int64_t rows, int64_t columns, T* grad_x);
  /// Uniform numbers in (0, 1), `count` of one graph.
  void (*uniform)(uint32_t low, uint32_t high, int64_t count, T* out);

  /// Mean of the rows [begin, end) of x.
  void (*mean_rows)(const T* x, int64_t begin, int64_t end, int64_t columns, T* out);
  /// Backward of mean_rows: rows [begin, end) of grad_x become grad / (end - begin).
  void (*spread_rows)(const T* grad, int64_t begin, int64_t end, int64_t columns, T* grad_x);
};

}  // namespace kdgat::kernels::isa
