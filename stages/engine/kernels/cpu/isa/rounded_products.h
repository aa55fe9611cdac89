// Products of factors rounded to bfloat16, with sums in float: two multiplications of each lane an
// instruction (AVX512-BF16). For the wide heads and for linear layers. Rules as in tables.h.
//
// A pair is two bfloat16 in 32 bits, the first in the lower half; a lone last one has a zero beside
// it. columns of the heads is a multiple of kHeadPadding.
#pragma once

#include <cstdint>

namespace kdgat::kernels::isa {

/// C[m][n] = from[m][n] + sum over k of a[m * row + k * step] . b[k][n], pairs by pairs: of a
/// matrix as it stands (step 1), or of its transpose (row 1).
struct RoundedProductArgs {
  const uint32_t* a;
  int64_t row, step;
  const uint32_t* b;
  int64_t b_stride;
  /// Null: zeros; c: added to what is there; with a stride of 0 one row for all.
  const float* from;
  int64_t from_stride;
  float* c;
  int64_t c_stride;
  int64_t m, n, k;
};

struct RoundedProducts {
  /// out [rows, ceil(columns / 2)] = pairs along each row of x [rows, columns], columns of any
  /// number.
  void (*pairs_of_columns)(const float* x, int64_t rows, int64_t columns, uint32_t* out);
  /// out [ceil(rows / 2), columns] = pairs of rows below each other, columns of any number; those
  /// of x stand x_stride apart.
  void (*pairs_of_rows_apart)(const float* x, int64_t x_stride, int64_t rows, int64_t columns,
                              uint32_t* out);
  void pairs_of_rows(const float* x, int64_t rows, int64_t columns, uint32_t* out) const {
    pairs_of_rows_apart(x, columns, rows, columns, out);
  }

  /// Sizes of any number.
  void (*product)(const RoundedProductArgs&);

  /// cells [rows, columns] = z weight + bias: z [rows, pairs], weight [pairs, columns].
  void (*logits)(const uint32_t* z, const uint32_t* weight, const float* bias, int64_t rows,
                 int64_t pairs, int64_t columns, float* cells);
  /// grad_z [rows, inputs] = cells weight^T: cells [rows, columns / 2], weight [inputs, columns /
  /// 2].
  void (*grad_rows)(const uint32_t* cells, const uint32_t* weight, int64_t rows, int64_t inputs,
                    int64_t columns, float* grad_z);
  /// sums [inputs, columns] += z^T cells: z [pairs, inputs], cells [pairs, columns].
  void (*grad_weights)(const uint32_t* cells, const uint32_t* z, int64_t pairs, int64_t inputs,
                       int64_t columns, float* sums);
};

/// None where the processor has no such instructions.
const RoundedProducts* rounded_products();

}  // namespace kdgat::kernels::isa
