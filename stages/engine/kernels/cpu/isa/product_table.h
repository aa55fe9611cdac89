// Small dense matrix products, of a size that a library call would cost more than the work, and
// what the tensor products of equivariant networks do around them; rules as in tables.h.
#pragma once

#include <cstdint>

namespace kdgat::kernels::isa {

/// C[m][n] = sum over k of a[m * row + k * step] * b[k][n], or added to it: of a matrix as it
/// stands (step 1), or of its transpose (row 1).
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

/// value * y[factor] * x[from ...], a term of a sum of rows.
template <class T>
struct RowTerm {
  int32_t from, factor;
  T value;
};
/// out[to ...], `size` long, from the terms [begin, end).
struct RowSum {
  int32_t to, size, begin, end;
};
template <class T>
struct RowSums {
  const RowSum* sums;
  int64_t count;
  const RowTerm<T>* terms;
  bool adds;  ///< to what is there
};
/// Rows of an array: those that `numbers` says, or without it one after the other.
template <class T>
struct Rows {
  T* data;
  int64_t stride;
  const int32_t* numbers;
};

template <class T>
struct ProductTable {
  void (*product)(const ProductArgs<T>&);
  /// The sum of a[i] * b[i].
  T (*dot)(const T* a, const T* b, int64_t size);
  /// to[j][i] = from[i][j], i < rows, j < columns.
  void (*transpose)(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                    int64_t columns);
  /// Of `count` rows each; of those that go to one row the first is added first.
  void (*row_sums)(const RowSums<T>&, const Rows<const T>& y, const Rows<const T>& x,
                   const Rows<T>& out, int64_t count);
  /// out = silu(x); grad = grad * the slope there.
  void (*silu)(const T* x, T* out, int64_t size);
  void (*silu_grad)(const T* x, T* grad, int64_t size);
};

}  // namespace kdgat::kernels::isa
