// Compiled with AVX512-BF16 where the compiler knows it (KDGAT_BF16); see stages.cmake.
#include "model/kernels/cpu/isa/rounded_products.h"

#if defined(KDGAT_BF16)
#include <immintrin.h>
#endif

namespace kdgat::model::kernels {

#if defined(KDGAT_BF16)

namespace {

constexpr int64_t kLanes = 16;
constexpr int kVectors = 4, kTile = 4;  // of a tile: its sums stay in registers

__m512 at(const float* p) { return _mm512_loadu_ps(p); }
__m512bh pairs_at(const uint32_t* p) { return reinterpret_cast<__m512bh>(_mm512_loadu_si512(p)); }
__m512bh everywhere(uint32_t pair) {
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int32_t>(pair)));
}

/// Numbers [0, count) of x, and zeros, in 32 bits each whose lower half is the bfloat16.
__m512i rounded(const float* x, int64_t count) {
  const auto mask = static_cast<__mmask16>(count < kLanes ? (1U << count) - 1U : 0xFFFFU);
  const __m256bh narrow = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, x));
  return _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(narrow));
}

void pairs_of_columns(const float* x, int64_t rows, int64_t columns, uint32_t* out) {
  const int64_t pairs = (columns + 1) / 2;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      const __m256i narrow = _mm512_cvtepi32_epi16(rounded(x + r * columns + c, columns - c));
      const int64_t left = pairs - c / 2;
      const auto mask = static_cast<__mmask8>(left < kLanes / 2 ? (1U << left) - 1U : 0xFFU);
      _mm256_mask_storeu_epi32(out + r * pairs + c / 2, mask, narrow);
    }
  }
}

void pairs_of_rows(const float* x, int64_t rows, int64_t columns, uint32_t* out) {
  for (int64_t r = 0; r < rows; r += 2) {
    const float* row = x + r * columns;
    for (int64_t c = 0; c < columns; c += kLanes) {
      const int64_t left = columns - c;
      __m512i both = rounded(row + c, left);
      if (r + 1 < rows) {
        const __m512i second = rounded(row + columns + c, left);
        both = _mm512_or_si512(both, _mm512_slli_epi32(second, 16));
      }
      const auto mask = static_cast<__mmask16>(left < kLanes ? (1U << left) - 1U : 0xFFFFU);
      _mm512_mask_storeu_epi32(out + r / 2 * columns + c, mask, both);
    }
  }
}

/// kRows rows of cells of four vectors.
template <int kRows>
void logits_tile(const uint32_t* z, const uint32_t* weight, const float* bias, int64_t pairs,
                 int64_t columns, float* cells) {
  __m512 sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = at(bias + v * kLanes);
  }
  for (int64_t k = 0; k < pairs; ++k) {
    for (int v = 0; v < kVectors; ++v) {
      const __m512bh w = pairs_at(weight + k * columns + v * kLanes);
      for (int r = 0; r < kRows; ++r) {
        sum[r][v] = _mm512_dpbf16_ps(sum[r][v], w, everywhere(z[r * pairs + k]));
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(cells + r * columns + v * kLanes, sum[r][v]);
    }
  }
}

void logits(const uint32_t* z, const uint32_t* weight, const float* bias, int64_t rows,
            int64_t pairs, int64_t columns, float* cells) {
  for (int64_t c = 0; c < columns; c += kVectors * kLanes) {
    int64_t r = 0;
    for (; r + kTile <= rows; r += kTile) {
      logits_tile<kTile>(z + r * pairs, weight + c, bias + c, pairs, columns,
                         cells + r * columns + c);
    }
    for (; r < rows; ++r) {
      logits_tile<1>(z + r * pairs, weight + c, bias + c, pairs, columns, cells + r * columns + c);
    }
  }
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

template <int kInputs>
void weights_tile(const uint32_t* cells, const uint32_t* z, int64_t pairs, int64_t inputs,
                  int64_t columns, float* sums) {
  __m512 sum[kInputs][kVectors];
  for (int k = 0; k < kInputs; ++k) {
    for (int v = 0; v < kVectors; ++v) sum[k][v] = at(sums + k * columns + v * kLanes);
  }
  for (int64_t r = 0; r < pairs; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      const __m512bh cell = pairs_at(cells + r * columns + v * kLanes);
      for (int k = 0; k < kInputs; ++k) {
        sum[k][v] = _mm512_dpbf16_ps(sum[k][v], cell, everywhere(z[r * inputs + k]));
      }
    }
  }
  for (int k = 0; k < kInputs; ++k) {
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(sums + k * columns + v * kLanes, sum[k][v]);
    }
  }
}

void grad_weights(const uint32_t* cells, const uint32_t* z, int64_t pairs, int64_t inputs,
                  int64_t columns, float* sums) {
  for (int64_t c = 0; c < columns; c += kVectors * kLanes) {
    int64_t k = 0;
    if (inputs % kTile == 1 && inputs > kTile) {  // the bias' row joins another tile
      weights_tile<kTile + 1>(cells + c, z, pairs, inputs, columns, sums + c);
      k = kTile + 1;
    }
    for (; k + kTile <= inputs; k += kTile) {
      weights_tile<kTile>(cells + c, z + k, pairs, inputs, columns, sums + k * columns + c);
    }
    for (; k < inputs; ++k) {
      weights_tile<1>(cells + c, z + k, pairs, inputs, columns, sums + k * columns + c);
    }
  }
}

constexpr RoundedProducts kRoundedProducts = {pairs_of_columns, pairs_of_rows, logits, grad_rows,
                                              grad_weights};

}  // namespace

const RoundedProducts* rounded_products() {
  return __builtin_cpu_supports("avx512bf16") ? &kRoundedProducts : nullptr;
}

#else

const RoundedProducts* rounded_products() { return nullptr; }

#endif

}  // namespace kdgat::model::kernels
