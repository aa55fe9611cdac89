// Products of a sparse matrix in compressed rows; rules as in tables.h.
#pragma once

#include <cstdint>

namespace kdgat::kernels::isa {

/// Rows of the product of a sparse matrix in compressed rows with a panel, some columns of a dense
/// one that stand together.
template <class T>
struct SparseArgs {
  const int32_t* col;    ///< of each nonzero: row of the panel
  const T* value;        ///< of each nonzero
  const int32_t* row;    ///< [rows] where sums go
  const int32_t* first;  ///< [rows] nonzeros first .. last-1
  const int32_t* last;
  const T* panel;           ///< row j: panel + j * width
  int64_t width;            ///< a multiple of sparse_lanes, at most sparse_width
  T* out;                   ///< row i: out + i * stride
  int64_t stride, columns;  ///< of `out`, columns <= width are written
  bool add;                 ///< to what stands there
};

template <class T>
struct SparseTable {
  /// out[row[r]] = sum of value * panel[col], or += it, for r in [begin, end).
  void (*rows)(const SparseArgs<T>&, int64_t begin, int64_t end);
  int64_t lanes;  ///< of a vector
  int64_t width;  ///< of the widest panel
};

}  // namespace kdgat::kernels::isa
