// Matrix products of the wide heads, in tiles that stay in registers; included by tables.cpp
// alone, inside the namespace of its instruction set. Weights stand transposed, [inputs, columns],
// columns padded to a multiple of kHeadPadding; cells are [rows, columns].

// Tiles whose sums, with kTileVectors vectors of cells, fit the registers.
constexpr int kTile = 4, kWideTile = kVectorBytes == 64 ? 6 : kTile;

/// Rows [0, kRows) of cells, columns [c, c + kSpan).
template <class T, int kRows>
inline void logits_tile(const T* z, const T* weight, const T* bias, int64_t inputs, int64_t columns,
                        T* cells) {
  using S = Simd<T>;
  typename S::Vector sum[kRows][kTileVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kTileVectors; ++v) sum[r][v] = S::at(bias + v * S::kLanes);
  }
  for (int64_t k = 0; k < inputs; ++k) {
    for (int v = 0; v < kTileVectors; ++v) {
      const typename S::Vector w = S::at(weight + k * columns + v * S::kLanes);
      for (int r = 0; r < kRows; ++r) sum[r][v] += w * z[r * inputs + k];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kTileVectors; ++v) S::at(cells + r * columns + v * S::kLanes) = sum[r][v];
  }
}

template <class T>
void head_logits(const T* z, const T* weight, const T* bias, int64_t rows, int64_t inputs,
                 int64_t columns, T* cells) {
  for (int64_t c = 0; c < columns; c += Simd<T>::kSpan) {
    int64_t r = 0;
    for (; r + kWideTile <= rows; r += kWideTile) {
      logits_tile<T, kWideTile>(z + r * inputs, weight + c, bias + c, inputs, columns,
                                cells + r * columns + c);
    }
    for (; r + 2 <= rows; r += 2) {
      logits_tile<T, 2>(z + r * inputs, weight + c, bias + c, inputs, columns,
                        cells + r * columns + c);
    }
    for (; r < rows; ++r) {
      logits_tile<T, 1>(z + r * inputs, weight + c, bias + c, inputs, columns,
                        cells + r * columns + c);
    }
  }
}

/// Inner products of kRows rows of cells with kInputs rows of weights.
template <class T, int kRows, int kInputs>
inline void products_tile(const T* cells, const T* weight, int64_t inputs, int64_t columns,
                          T* grad_z) {
  using S = Simd<T>;
  typename S::Vector sum[kRows][kInputs] = {};
  for (int64_t c = 0; c < columns; c += S::kLanes) {
    typename S::Vector cell[kRows];
    for (int r = 0; r < kRows; ++r) cell[r] = S::at(cells + r * columns + c);
    for (int k = 0; k < kInputs; ++k) {
      const typename S::Vector w = S::at(weight + k * columns + c);
      for (int r = 0; r < kRows; ++r) sum[r][k] += cell[r] * w;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int k = 0; k < kInputs; ++k) {
      T total = 0;
      for (int lane = 0; lane < S::kLanes; ++lane) total += sum[r][k][lane];
      grad_z[r * inputs + k] = total;
    }
  }
}

/// How many of so many inputs a tile takes, so that all tiles are near kWideTile.
inline int64_t tile_of(int64_t left) {
  if (left <= kWideTile + 1) return left;
  switch (left % kWideTile) {
    case 0:
      return kWideTile;
    case 1:
      return kWideTile + 1;
    case 2:
      return kWideTile == 6 ? 4 : 3;
    case 3:
      return kWideTile == 6 ? 5 : 3;
    default:
      return left % kWideTile;
  }
}

/// Calls body(first, tile) for tiles that cover the inputs; the tile's size is a constant, tile().
template <class Body>
inline void for_tiles(int64_t inputs, const Body& body) {
  for (int64_t k = 0, count = 0; k < inputs; k += count) {
    count = tile_of(inputs - k);
    switch (count) {
      case 1:
        body(k, std::integral_constant<int, 1>());
        break;
      case 2:
        body(k, std::integral_constant<int, 2>());
        break;
      case 3:
        body(k, std::integral_constant<int, 3>());
        break;
      case 4:
        body(k, std::integral_constant<int, 4>());
        break;
      case 5:
        body(k, std::integral_constant<int, 5>());
        break;
      case 6:
        body(k, std::integral_constant<int, 6>());
        break;
      default:
        body(k, std::integral_constant<int, 7>());
    }
  }
}

template <class T, int kRows>
inline void products_rows(const T* cells, const T* weight, int64_t inputs, int64_t columns,
                          T* grad_z) {
  for_tiles(inputs, [&](int64_t k, auto tile) {
    products_tile<T, kRows, tile()>(cells, weight + k * columns, inputs, columns, grad_z + k);
  });
}

template <class T>
void head_grad_rows(const T* cells, const T* weight, int64_t rows, int64_t inputs, int64_t columns,
                    T* grad_z) {
  int64_t r = 0;
  for (; r + kTile <= rows; r += kTile) {
    products_rows<T, kTile>(cells + r * columns, weight, inputs, columns, grad_z + r * inputs);
  }
  for (; r < rows; ++r) {
    products_rows<T, 1>(cells + r * columns, weight, inputs, columns, grad_z + r * inputs);
  }
}

template <class T, int kInputs>
inline void weights_tile(const T* cells, const T* z, int64_t rows, int64_t inputs, int64_t columns,
                         T* sums) {
  using S = Simd<T>;
  typename S::Vector sum[kInputs][kTileVectors];
  for (int k = 0; k < kInputs; ++k) {
    for (int v = 0; v < kTileVectors; ++v) sum[k][v] = S::at(sums + k * columns + v * S::kLanes);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int v = 0; v < kTileVectors; ++v) {
      const typename S::Vector cell = S::at(cells + r * columns + v * S::kLanes);
      for (int k = 0; k < kInputs; ++k) sum[k][v] += cell * z[r * inputs + k];
    }
  }
  for (int k = 0; k < kInputs; ++k) {
    for (int v = 0; v < kTileVectors; ++v) S::at(sums + k * columns + v * S::kLanes) = sum[k][v];
  }
}

template <class T>
void head_grad_weights(const T* cells, const T* z, int64_t rows, int64_t inputs, int64_t columns,
                       T* sums) {
  for (int64_t c = 0; c < columns; c += Simd<T>::kSpan) {
    for_tiles(inputs, [&](int64_t k, auto tile) {
      weights_tile<T, tile()>(cells + c, z + k, rows, inputs, columns, sums + k * columns + c);
    });
  }
}

template <class T>
void softmax_rows(T* x, int64_t rows, int64_t columns, T* log_sum, T* inverse_sum) {
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

/// log(1 + exp(v)) = max(v, 0) + log(1 + exp(-|v|)), and the logs of a row are the log of a
/// product, kept in lanes of factors in [1, 2].
template <class T>
void sigmoid_rows(T* x, int64_t rows, int64_t columns, T* softplus_sum) {
  constexpr int64_t kLanes = kHeadPadding;
  constexpr int64_t kFactors = 64;  // of one lane before its exponent is taken off: at most 2^64
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
