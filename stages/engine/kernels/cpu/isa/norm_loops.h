// Norms, ReLU, dropout and means over rows; included by tables.cpp alone, inside the namespace of
// its instruction set, after dropout_hash.h and simd.h.

/// Bits of up to eight numbers that are above zero, the first in the lowest.
template <class T>
inline uint8_t signs_of(const T* x, int64_t count) {
  uint32_t bits = 0;
  for (int64_t i = 0; i < count; ++i) bits |= (x[i] > 0 ? 1U : 0U) << i;
  return static_cast<uint8_t>(bits);
}

template <class T>
inline void signs_of_row(const T* x, int64_t columns, uint8_t* signs) {
  int64_t c = 0;
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) {
    for (; c + 16 <= columns; c += 16) {
      const __mmask16 bits =
          _mm512_cmp_ps_mask(_mm512_loadu_ps(x + c), _mm512_setzero_ps(), _CMP_GT_OQ);
      signs[c / 8] = static_cast<uint8_t>(bits);
      signs[c / 8 + 1] = static_cast<uint8_t>(bits >> 8);
    }
  }
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<T, float>) {
    for (; c + 8 <= columns; c += 8) {
      const __m256 above = _mm256_cmp_ps(_mm256_loadu_ps(x + c), _mm256_setzero_ps(), _CMP_GT_OQ);
      signs[c / 8] = static_cast<uint8_t>(_mm256_movemask_ps(above));
    }
  }
#endif
  for (; c + 8 <= columns; c += 8) signs[c / 8] = signs_of(x + c, 8);
  if (c < columns) signs[c / 8] = signs_of(x + c, columns - c);
}

template <class T>
void relu_drop(const T* x, int64_t rows, int64_t columns, DropKey key, T scale, T* out,
               uint8_t* signs) {
  if (signs == nullptr || columns % 8 == 0) {  // rows follow one another without a gap
    columns *= rows;
    rows = 1;
  }
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = x + r * columns;
    T* to = out + r * columns;
    const auto first = static_cast<uint32_t>(r * columns);
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
      const bool keep = hash(first + static_cast<uint32_t>(c), key.low, key.high) >= key.threshold;
      const T value = from[c] > 0 ? from[c] * scale : T(0);
      to[c] = keep ? value : T(0);
    }
    if (signs != nullptr) signs_of_row(to, columns, signs + r * sign_bytes(columns));
  }
}

template <class T>
void relu_drop_backward(const uint8_t* signs, const T* grad, int64_t rows, int64_t columns, T scale,
                        T* grad_x) {
  constexpr int32_t kBits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  if (columns % 8 == 0) {
    columns *= rows;
    rows = 1;
  }
  for (int64_t r = 0; r < rows; ++r) {
    const uint8_t* bits = signs + r * sign_bytes(columns);
    const T* from = grad + r * columns;
    T* to = grad_x + r * columns;
    int64_t c = 0;
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) {
      const __m512 factor = _mm512_set1_ps(scale);
      for (; c + 16 <= columns; c += 16) {
        const auto above = static_cast<__mmask16>(bits[c / 8] | bits[c / 8 + 1] << 8);
        _mm512_storeu_ps(to + c, _mm512_maskz_mul_ps(above, _mm512_loadu_ps(from + c), factor));
      }
    }
#endif
    for (; c + 8 <= columns; c += 8) {
      const int32_t eight = bits[c / 8];
#pragma omp simd
      for (int64_t i = 0; i < 8; ++i) {
        to[c + i] = (eight & kBits[i]) != 0 ? from[c + i] * scale : T(0);
      }
    }
    for (; c < columns; ++c) {
      to[c] = (bits[c / 8] & kBits[c % 8]) != 0 ? from[c] * scale : T(0);
    }
  }
}

template <class T>
void norm_relu_drop(const T* x, const T* gain, const T* shift, int64_t rows, int64_t columns,
                    DropKey key, T scale, T* out) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = x + r * columns;
    T* to = out + r * columns;
    const auto first = static_cast<uint32_t>(r * columns);
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
      const bool keep = hash(first + static_cast<uint32_t>(c), key.low, key.high) >= key.threshold;
      const T value = from[c] * gain[c] + shift[c];
      const T positive = value > 0 ? value * scale : T(0);
      to[c] = keep ? positive : T(0);
    }
  }
}

/// Calls body.operator()<S>(first) for each vector of a row, and then for each column that fills
/// none.
template <class T, class Body>
inline void for_row(int64_t columns, const Body& body) {
  int64_t c = 0;
  for (; c + Simd<T>::kLanes <= columns; c += Simd<T>::kLanes) {
    body.template operator()<Simd<T>>(c);
  }
  for (; c < columns; ++c) body.template operator()<OneLane<T>>(c);
}

template <class T>
void norm_relu(const T* x, const T* gain, const T* shift, int64_t rows, int64_t columns, T* out) {
  for (int64_t at = 0; at < rows * columns; at += columns) {
    for_row<T>(columns, [&]<class S>(int64_t c) {
      using Vector = typename S::Vector;
      const Vector value = S::at(x + at + c) * S::at(gain + c) + S::at(shift + c);
      S::at(out + at + c) = value > 0 ? value : Vector{};
    });
  }
}

/// Calls body.operator()<S, vectors>(column, first_row, last_row) for all rows of runs of columns,
/// which adds to their sums. Sums of narrow rows stay in registers from row to row; wide ones are
/// read row by row, as memory stands, which is 2 to 3 times faster where they are in no cache. The
/// order in which a column's rows are added is the same.
template <class T, class Body>
inline void for_column_sums(int64_t rows, int64_t columns, const Body& body) {
  using S = Simd<T>;
  constexpr int64_t kNarrow = 512 / static_cast<int64_t>(sizeof(T));
  const int64_t rows_at_once = columns <= kNarrow ? rows : 1;
  for (int64_t r = 0; r < rows; r += rows_at_once) {
    const int64_t last = r + rows_at_once;
    int64_t c = 0;
    for (; c + 4 * S::kLanes <= columns; c += 4 * S::kLanes) {
      body.template operator()<S, 4>(c, r, last);
    }
    for (; c + 2 * S::kLanes <= columns; c += 2 * S::kLanes) {
      body.template operator()<S, 2>(c, r, last);
    }
    for (; c + S::kLanes <= columns; c += S::kLanes) body.template operator()<S, 1>(c, r, last);
    for (; c < columns; ++c) body.template operator()<OneLane<T>, 1>(c, r, last);
  }
}

template <class T>
void column_sums(const T* x, const T* mean, int64_t rows, int64_t columns, int power, T* sums) {
  for (int64_t c = 0; c < columns; ++c) sums[c] = 0;
  for_column_sums<T>(rows, columns,
                     [&]<class S, int count>(int64_t c, int64_t first, int64_t last) {
                       using Vector = typename S::Vector;
                       Vector sum[count], centre[count] = {};
#pragma GCC unroll 4
                       for (int v = 0; v < count; ++v) {
                         sum[v] = S::at(sums + c + v * S::kLanes);
                         if (power != 1) centre[v] = S::at(mean + c + v * S::kLanes);
                       }
                       for (int64_t r = first; r < last; ++r) {
#pragma GCC unroll 4
                         for (int v = 0; v < count; ++v) {
                           const Vector value = S::at(x + r * columns + c + v * S::kLanes);
                           sum[v] += power == 1 ? value : (value - centre[v]) * (value - centre[v]);
                         }
                       }
#pragma GCC unroll 4
                       for (int v = 0; v < count; ++v) S::at(sums + c + v * S::kLanes) = sum[v];
                     });
}

template <class T>
void norm_grad_sums(const T* x, const T* mean, const T* out, const T* grad, T scale, int64_t rows,
                    int64_t columns, T* sum_g, T* sum_gx) {
  for (int64_t c = 0; c < columns; ++c) sum_g[c] = sum_gx[c] = 0;
  for_column_sums<T>(rows, columns,
                     [&]<class S, int count>(int64_t c, int64_t first, int64_t last) {
                       using Vector = typename S::Vector;
                       Vector of_g[count], of_gx[count], centre[count];
#pragma GCC unroll 4
                       for (int v = 0; v < count; ++v) {
                         of_g[v] = S::at(sum_g + c + v * S::kLanes);
                         of_gx[v] = S::at(sum_gx + c + v * S::kLanes);
                         centre[v] = S::at(mean + c + v * S::kLanes);
                       }
                       for (int64_t r = first; r < last; ++r) {
#pragma GCC unroll 4
                         for (int v = 0; v < count; ++v) {
                           const int64_t i = r * columns + c + v * S::kLanes;
                           const Vector given = S::at(grad + i) * scale;
                           const Vector g = S::at(out + i) > 0 ? given : Vector{};
                           of_g[v] += g;
                           of_gx[v] += g * (S::at(x + i) - centre[v]);
                         }
                       }
#pragma GCC unroll 4
                       for (int v = 0; v < count; ++v) {
                         S::at(sum_g + c + v * S::kLanes) = of_g[v];
                         S::at(sum_gx + c + v * S::kLanes) = of_gx[v];
                       }
                     });
}

template <class T>
void norm_grad(const T* x, const T* mean, const T* out, const T* grad, T scale, const T* a,
               const T* b, const T* c, int64_t rows, int64_t columns, T* grad_x) {
  for (int64_t at = 0; at < rows * columns; at += columns) {
    for_row<T>(columns, [&]<class S>(int64_t k) {
      using Vector = typename S::Vector;
      const Vector given = S::at(grad + at + k) * scale;
      const Vector g = S::at(out + at + k) > 0 ? given : Vector{};
      S::at(grad_x + at + k) =
          g * S::at(a + k) - (S::at(x + at + k) - S::at(mean + k)) * S::at(b + k) - S::at(c + k);
    });
  }
}

template <class T>
void uniform(uint32_t low, uint32_t high, int64_t count, T* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int32_t top = hash(static_cast<uint32_t>(i), low, high) >> 7;  // 24 bits: exact in float
    out[i] = (static_cast<T>(top) + T(0.5)) * T(1.0 / 16777216);
  }
}

template <class T>
void mean_rows(const T* x, int64_t begin, int64_t end, int64_t columns, T* out) {
  column_sums<T>(x + begin * columns, nullptr, end - begin, columns, 1, out);
  const T factor = end > begin ? T(1) / static_cast<T>(end - begin) : T(0);
  for (int64_t c = 0; c < columns; ++c) out[c] *= factor;
}

template <class T>
void spread_rows(const T* grad, int64_t begin, int64_t end, int64_t columns, T* grad_x) {
  const T factor = end > begin ? T(1) / static_cast<T>(end - begin) : T(0);
  for (int64_t r = begin; r < end; ++r) {
    T* to = grad_x + r * columns;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) to[c] = grad[c] * factor;
  }
}
