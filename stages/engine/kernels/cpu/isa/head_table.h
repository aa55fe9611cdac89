// The wide heads and their products. weight [inputs, columns], columns a multiple of kHeadPadding;
// rules as in tables.h.
#pragma once

#include <cstdint>

namespace kdgat::kernels::isa {

inline constexpr int64_t kHeadPadding = 64;

template <class T>
struct HeadTable {
  /// Rows become exp(x - max of the row); log_sum and inverse_sum of each row. columns is a
  /// multiple of kHeadPadding.
  void (*softmax_rows)(T* x, int64_t rows, int64_t columns, T* log_sum, T* inverse_sum);
  /// Cells become sigmoid(x); the sum of log(1 + exp(x)) of each row. columns is a multiple of
  /// kHeadPadding.
  void (*sigmoid_rows)(T* x, int64_t rows, int64_t columns, T* softplus_sum);

  /// cells [rows, columns] = z weight + bias.
  void (*logits)(const T* z, const T* weight, const T* bias, int64_t rows, int64_t inputs,
                 int64_t columns, T* cells);
  /// grad_z [rows, inputs] = cells weight^T.
  void (*grad_rows)(const T* cells, const T* weight, int64_t rows, int64_t inputs, int64_t columns,
                    T* grad_z);
  /// sums [inputs, columns] += z^T cells.
  void (*grad_weights)(const T* cells, const T* z, int64_t rows, int64_t inputs, int64_t columns,
                       T* sums);
};

}  // namespace kdgat::kernels::isa
