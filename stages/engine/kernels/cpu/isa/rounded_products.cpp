// Compiled with AVX512-BF16 where the compiler knows it (KDGAT_BF16); see stages.cmake.
#include "engine/kernels/cpu/isa/rounded_products.h"

#if defined(KDGAT_BF16)
#include <immintrin.h>
#endif

namespace kdgat::kernels::isa {

#if defined(KDGAT_BF16)

namespace {

constexpr int64_t kLanes = 16;
constexpr int kVectors = 4, kTile = 4;  // of a tile: its sums stay in registers

__m512 at(const float* p) { return _mm512_loadu_ps(p); }
__m512bh pairs_at(const uint32_t* p) { return reinterpret_cast<__m512bh>(_mm512_loadu_si512(p)); }
__m512bh everywhere(uint32_t pair) {
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int32_t>(pair)));
}

/// Lanes [0, count) of a vector, count at least 1.
__mmask16 lanes(int64_t count) {
  return static_cast<__mmask16>(count < kLanes ? (1U << count) - 1U : 0xFFFFU);
}

void pairs_of_columns(const float* x, int64_t rows, int64_t columns, uint32_t* out) {
  const int64_t pairs = (columns + 1) / 2;
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x + r * columns;
    uint32_t* to = out + r * pairs;
    int64_t c = 0;
    for (; c + 2 * kLanes <= columns; c += 2 * kLanes) {
      const __m512bh both = _mm512_cvtne2ps_pbh(at(from + c + kLanes), at(from + c));
      _mm512_storeu_si512(to + c / 2, reinterpret_cast<__m512i>(both));
    }
    if (c == columns) continue;
    const int64_t left = columns - c;
    const __m512 first = _mm512_maskz_loadu_ps(lanes(left), from + c);
    const __m512 second = left > kLanes
                              ? _mm512_maskz_loadu_ps(lanes(left - kLanes), from + c + kLanes)
                              : _mm512_setzero_ps();
    _mm512_mask_storeu_epi32(to + c / 2, lanes(pairs - c / 2),
                             reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first)));
  }
}

/// The numbers of two vectors that stand below each other, side by side.
__m512i interleaved(__m512 first, __m512 second) {
  alignas(64) static constexpr uint16_t kOrder[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                      21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                      11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return _mm512_permutexvar_epi16(_mm512_load_si512(kOrder),
                                  reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first)));
}

void pairs_of_rows_apart(const float* x, int64_t x_stride, int64_t rows, int64_t columns,
                         uint32_t* out) {
  for (int64_t r = 0; r < rows; r += 2) {
    const float *first = x + r * x_stride, *second = first + x_stride;
    const bool is_lone = r + 1 == rows;
    uint32_t* to = out + r / 2 * columns;
    for (int64_t c = 0; c < columns; c += kLanes) {
      const __mmask16 mask = lanes(columns - c);
      const __m512 below = is_lone ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, second + c);
      _mm512_mask_storeu_epi32(to + c, mask,
                               interleaved(_mm512_maskz_loadu_ps(mask, first + c), below));
    }
  }
}

/// kRows rows of kWidth vectors; `last` are the lanes of the last of them.
template <int kRows, int kWidth, bool kWhole>
void product_tile(const RoundedProductArgs& p, int64_t m, int64_t n, __mmask16 last) {
  __m512 sum[kRows][kWidth];
  if (p.from == nullptr) {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kWidth; ++v) sum[r][v] = _mm512_setzero_ps();
    }
  } else {
    const float* from = p.from + m * p.from_stride + n;
    const int64_t stride = p.from_stride;
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r, from += stride) {
#pragma GCC unroll 4
      for (int v = 0; v < kWidth; ++v) {
        const bool is_whole = kWhole || v + 1 < kWidth;
        sum[r][v] =
            is_whole ? at(from + v * kLanes) : _mm512_maskz_loadu_ps(last, from + v * kLanes);
      }
    }
  }
  const uint32_t *a = p.a + m * p.row, *b = p.b + n;
  const int64_t row = p.row, step = p.step, b_stride = p.b_stride, pairs = p.k;
  for (int64_t k = 0; k < pairs; ++k, a += step, b += b_stride) {
    __m512bh of_b[kWidth];
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) {
      const uint32_t* from = b + v * kLanes;
      of_b[v] = kWhole || v + 1 < kWidth
                    ? pairs_at(from)
                    : reinterpret_cast<__m512bh>(_mm512_maskz_loadu_epi32(last, from));
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const __m512bh of_a = everywhere(a[r * row]);
#pragma GCC unroll 4
      for (int v = 0; v < kWidth; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], of_a, of_b[v]);
    }
  }
  float* to = p.c + m * p.c_stride + n;
  const int64_t stride = p.c_stride;
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r, to += stride) {
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) {
      if (kWhole || v + 1 < kWidth) {
        _mm512_storeu_ps(to + v * kLanes, sum[r][v]);
      } else {
        _mm512_mask_storeu_ps(to + v * kLanes, last, sum[r][v]);
      }
    }
  }
}

/// A tile of `rows` rows, 1 to kRows.
template <int kRows, int kWidth, bool kWhole>
void product_rows(const RoundedProductArgs& p, int64_t m, int64_t rows, int64_t n, __mmask16 last) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return product_rows<kRows - 1, kWidth, kWhole>(p, m, rows, n, last);
  }
  product_tile<kRows, kWidth, kWhole>(p, m, n, last);
}

template <int kWidth, bool kWhole>
void product_columns(const RoundedProductArgs& p, int64_t n, __mmask16 last) {
  constexpr int kSums = 24;  // of a tile: with its vectors of b and one of a they fit the registers
  constexpr int kMost = 12;  // rows; the addresses of more do not
  constexpr int kRows = kSums / kWidth < kMost ? kSums / kWidth : kMost;
  const int64_t tiles = (p.m + kRows - 1) / kRows;
  const int64_t low = p.m / tiles,
                high = p.m % tiles;  // rows of a tile; how many tiles have one more
  for (int64_t i = 0, m = 0; i < tiles; ++i) {
    const int64_t rows = low + (i < high ? 1 : 0);
    product_rows<kRows, kWidth, kWhole>(p, m, rows, n, last);
    m += rows;
  }
}

void product(const RoundedProductArgs& p) {
  if (p.m == 0) return;
  int64_t n = 0;
  for (; n + kVectors * kLanes <= p.n; n += kVectors * kLanes) {
    product_columns<kVectors, true>(p, n, 0xFFFFU);
  }
  if (n == p.n) return;
  const int64_t left = p.n - n, vectors = (left + kLanes - 1) / kLanes;
  const __mmask16 last = lanes(left - (vectors - 1) * kLanes);
  switch (vectors) {
    case 1:
      return product_columns<1, false>(p, n, last);
    case 2:
      return product_columns<2, false>(p, n, last);
    case 3:
      return product_columns<3, false>(p, n, last);
    default:
      return product_columns<kVectors, false>(p, n, last);
  }
}

void logits(const uint32_t* z, const uint32_t* weight, const float* bias, int64_t rows,
            int64_t pairs, int64_t columns, float* cells) {
  product({.a = z,
           .row = pairs,
           .step = 1,
           .b = weight,
           .b_stride = columns,
           .from = bias,
           .from_stride = 0,
           .c = cells,
           .c_stride = columns,
           .m = rows,
           .n = columns,
           .k = pairs});
}

template <int kRows, int kInputs>
void products_tile(const uint32_t* cells, const uint32_t* weight, int64_t inputs, int64_t pairs,
                   float* grad_z) {
  __m512 sum[kRows][kInputs];
  for (int r = 0; r < kRows; ++r) {
    for (int k = 0; k < kInputs; ++k) sum[r][k] = _mm512_setzero_ps();
  }
  for (int64_t c = 0; c < pairs; c += kLanes) {
    __m512bh cell[kRows];
    for (int r = 0; r < kRows; ++r) cell[r] = pairs_at(cells + r * pairs + c);
    for (int k = 0; k < kInputs; ++k) {
      const __m512bh w = pairs_at(weight + k * pairs + c);
      for (int r = 0; r < kRows; ++r) sum[r][k] = _mm512_dpbf16_ps(sum[r][k], cell[r], w);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int k = 0; k < kInputs; ++k) grad_z[r * inputs + k] = _mm512_reduce_add_ps(sum[r][k]);
  }
}

template <int kRows>
void products_rows(const uint32_t* cells, const uint32_t* weight, int64_t inputs, int64_t pairs,
                   float* grad_z) {
  int64_t k = 0;
  for (; k + kTile <= inputs; k += kTile) {
    products_tile<kRows, kTile>(cells, weight + k * pairs, inputs, pairs, grad_z + k);
  }
  for (; k < inputs; ++k) {
    products_tile<kRows, 1>(cells, weight + k * pairs, inputs, pairs, grad_z + k);
  }
}

void grad_rows(const uint32_t* cells, const uint32_t* weight, int64_t rows, int64_t inputs,
               int64_t columns, float* grad_z) {
  const int64_t pairs = columns / 2;
  int64_t r = 0;
  for (; r + kTile <= rows; r += kTile) {
    products_rows<kTile>(cells + r * pairs, weight, inputs, pairs, grad_z + r * inputs);
  }
  for (; r < rows; ++r) {
    products_rows<1>(cells + r * pairs, weight, inputs, pairs, grad_z + r * inputs);
  }
}

void grad_weights(const uint32_t* cells, const uint32_t* z, int64_t pairs, int64_t inputs,
                  int64_t columns, float* sums) {
  product({.a = z,
           .row = 1,
           .step = inputs,
           .b = cells,
           .b_stride = columns,
           .from = sums,
           .from_stride = columns,
           .c = sums,
           .c_stride = columns,
           .m = inputs,
           .n = columns,
           .k = pairs});
}

constexpr RoundedProducts kRoundedProducts = {pairs_of_columns, pairs_of_rows_apart, product,
                                              logits,           grad_rows,           grad_weights};

}  // namespace

const RoundedProducts* rounded_products() {
  return __builtin_cpu_supports("avx512bf16") ? &kRoundedProducts : nullptr;
}

#else

const RoundedProducts* rounded_products() { return nullptr; }

#endif

}  // namespace kdgat::kernels::isa
