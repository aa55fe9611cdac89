// Small dense matrix products, of a size that a library call would cost more than the work; rules as
// in tables.h.
#pragma once

#include <cstdint>

namespace kdgat::model::kernels {

/// C[m][n] = sum over k of a[m * row + k * step] * b[k][n], or added to it: of a matrix as it stands
/// (step 1), or of its transpose (row 1).
template <class T>
struct ProductArgs {
  const T* a;
  int64_t row, step;
  const T* b;
  int64_t b_stride;
  T* c;
  int64_t c_stride;
  int64_t m, n, k;
  bool adds;
};

template <class T>
struct ProductTable {
  void (*product)(const ProductArgs<T>&);
  /// to[j][i] = from[i][j], i < rows, j < columns.
  void (*transpose)(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                    int64_t columns);
};

}  // namespace kdgat::model::kernels
