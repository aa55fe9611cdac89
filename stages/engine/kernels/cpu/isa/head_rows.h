// Rows of cells of the wide heads: softmax, sigmoid and the losses' logarithms; included by
// tables.cpp alone, inside the namespace of its instruction set.

template <class T>
void plain_softmax_rows(T* x, int64_t rows, int64_t columns, T* log_sum, T* inverse_sum) {
  for (int64_t r = 0; r < rows; ++r) {
    T* row = x + r * columns;
    T top = row[0], sum = 0;
#pragma omp simd reduction(max : top)
    for (int64_t c = 0; c < columns; ++c) top = row[c] > top ? row[c] : top;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < columns; ++c) {
      row[c] = exp_of(row[c] - top);
      sum += row[c];
    }
    log_sum[r] = top + log_of(sum);
    inverse_sum[r] = 1 / sum;
  }
}

constexpr int64_t kFactors = 64;  // of one lane before its exponent is taken off: at most 2^64

/// log(1 + exp(v)) = max(v, 0) + log(1 + exp(-|v|)), and the logs of a row are the log of a
/// product, kept in lanes of factors in [1, 2].
template <class T>
void plain_sigmoid_rows(T* x, int64_t rows, int64_t columns, T* softplus_sum) {
  constexpr int64_t kLanes = kHeadPadding;
  for (int64_t r = 0; r < rows; ++r) {
    T* row = x + r * columns;
    T product[kLanes], sum[kLanes];
    for (int64_t j = 0; j < kLanes; ++j) product[j] = 1, sum[j] = 0;
    int32_t exponent[kLanes] = {};
    for (int64_t first = 0; first < columns; first += kLanes * kFactors) {
      const int64_t last =
          first + kLanes * kFactors < columns ? first + kLanes * kFactors : columns;
      for (int64_t c = first; c < last; c += kLanes) {
#pragma omp simd
        for (int64_t j = 0; j < kLanes; ++j) {
          const T v = row[c + j];
          const T small = exp_of(v > 0 ? -v : v);
          const T one = 1 + small;
          const T inverse = 1 / one;
          row[c + j] = v > 0 ? inverse : small * inverse;
          sum[j] += v > 0 ? v : T(0);
          product[j] *= one;
        }
      }
#pragma omp simd
      for (int64_t j = 0; j < kLanes; ++j) {
        exponent[j] += exponent_of(product[j]);
        product[j] = mantissa_of(product[j]);
      }
    }
    T mantissa = 1, positive = 0;  // 64 mantissas of at least 1/2
    int64_t exponents = 0;
    for (int64_t j = 0; j < kLanes; ++j) {
      mantissa *= product[j];
      positive += sum[j];
      exponents += exponent[j];
    }
    softplus_sum[r] =
        positive + (log_of(mantissa) + static_cast<T>(exponents) * T(0.693147180559945309));
  }
}

#if defined(KDGAT_VECTOR_EXP)

// The same in vectors. Steps are taken for a whole tile at a time: an exp is a chain of some 14
// operations, each of which waits for the one before.

inline void softmax_row(float* row, int64_t columns, float* log_sum, float* inverse_sum) {
  using S = Simd<float>;
  constexpr int64_t kLanes = S::kLanes;
  Floats tops[kTileVectors], sums[kTileVectors] = {};
#pragma GCC unroll 4
  for (int v = 0; v < kTileVectors; ++v) tops[v] = S::at(row + v * kLanes);
  for (int64_t c = S::kSpan; c < columns; c += S::kSpan) {
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) tops[v] = greater(tops[v], S::at(row + c + v * kLanes));
  }
  float top = row[0];
  for (int v = 0; v < kTileVectors; ++v) {
    const float of_v = over_lanes(tops[v], [](Floats a, Floats b) { return greater(a, b); });
    top = of_v > top ? of_v : top;
  }
  const ExpBelow exp_below;
  for (int64_t c = 0; c < columns; c += S::kSpan) {
    Floats x[kTileVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) x[v] = S::at(row + c + v * kLanes) - top;
    exp_below(x);
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) {
      S::at(row + c + v * kLanes) = x[v];
      sums[v] += x[v];
    }
  }
#pragma GCC unroll 4
  for (int v = 1; v < kTileVectors; ++v) sums[0] += sums[v];
  const float sum = over_lanes(sums[0], [](Floats a, Floats b) { return a + b; });
  *log_sum = top + log_of(sum);
  *inverse_sum = 1 / sum;
}

inline void sigmoid_row(float* row, int64_t columns, float* softplus_sum) {
  using S = Simd<float>;
  constexpr int64_t kLanes = S::kLanes;
  constexpr int64_t kChunk = S::kSpan * kFactors;
  const Bits sign = Bits{} + INT32_MIN, one_bits = Bits{} + 0x3F800000;
  const ExpBelow exp_below;
  Floats product[kTileVectors], sum[kTileVectors] = {};
  Bits exponent = {};
#pragma GCC unroll 4
  for (int v = 0; v < kTileVectors; ++v) product[v] = Floats{} + 1.0f;
  for (int64_t first = 0; first < columns; first += kChunk) {
    const int64_t last = first + kChunk < columns ? first + kChunk : columns;
    for (int64_t c = first; c < last; c += S::kSpan) {
      Floats small[kTileVectors];
      Bits negative[kTileVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) {
        const Bits x = (Bits)S::at(row + c + v * kLanes);
        negative[v] = x >> 31;
        small[v] = (Floats)(x | sign);
        sum[v] += (Floats)(x & ~negative[v]);
      }
      exp_below(small);
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) {
        const Floats one = 1.0f + small[v];
        const Bits top = ((Bits)small[v] & negative[v]) | (one_bits & ~negative[v]);
        S::at(row + c + v * kLanes) = (Floats)top / one;
        product[v] *= one;
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) {
      exponent += ((Bits)product[v] >> 23) - 126;
      product[v] = (Floats)(((Bits)product[v] & 0x007FFFFF) | 0x3F000000);
    }
  }
#pragma GCC unroll 4
  for (int v = 1; v < kTileVectors; ++v) {
    product[0] *= product[v];
    sum[0] += sum[v];
  }
  int64_t exponents = 0;
  for (int j = 0; j < kLanes; ++j) exponents += exponent[j];
  // Of at most 64 mantissas of at least 1/2.
  const float mantissa = over_lanes(product[0], [](Floats a, Floats b) { return a * b; });
  const float positive = over_lanes(sum[0], [](Floats a, Floats b) { return a + b; });
  *softplus_sum =
      positive + (log_of(mantissa) + static_cast<float>(exponents) * 0.693147180559945309f);
}

#endif

template <class T>
void softmax_rows(T* x, int64_t rows, int64_t columns, T* log_sum, T* inverse_sum) {
#if defined(KDGAT_VECTOR_EXP)
  if constexpr (std::is_same_v<T, float>) {
    for (int64_t r = 0; r < rows; ++r) {
      softmax_row(x + r * columns, columns, log_sum + r, inverse_sum + r);
    }
    return;
  }
#endif
  plain_softmax_rows(x, rows, columns, log_sum, inverse_sum);
}

template <class T>
void sigmoid_rows(T* x, int64_t rows, int64_t columns, T* softplus_sum) {
#if defined(KDGAT_VECTOR_EXP)
  if constexpr (std::is_same_v<T, float>) {
    for (int64_t r = 0; r < rows; ++r) sigmoid_row(x + r * columns, columns, softplus_sum + r);
    return;
  }
#endif
  plain_sigmoid_rows(x, rows, columns, softplus_sum);
}
