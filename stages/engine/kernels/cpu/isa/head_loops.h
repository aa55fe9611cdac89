// Matrix products of the wide heads, in tiles that stay in registers; included by tables.cpp
// alone, inside the namespace of its instruction set. Weights stand transposed, [inputs, columns],
// columns padded to a multiple of kHeadPadding; cells are [rows, columns].

// Tiles whose sums fit the registers: rows or inputs with kTileVectors vectors of cells each, and
// rows with inputs.
constexpr int kWideTile = kVectorBytes == 64 ? 6 : 4;
constexpr int kTile = 4, kTileInputs = kVectorBytes == 64 ? 6 : 3;

/// Rows [0, kRows) of cells, columns [c, c + kSpan).
template <class T, int kRows>
inline void logits_tile(const T* z, const T* weight, const T* bias, int64_t inputs, int64_t columns,
                        T* cells) {
  using S = Simd<T>;
  typename S::Vector sum[kRows][kTileVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kTileVectors; ++v) sum[r][v] = S::at(bias + v * S::kLanes);
  }
  for (int64_t k = 0; k < inputs; ++k) {
#pragma GCC unroll 8
    for (int v = 0; v < kTileVectors; ++v) {
      const typename S::Vector w = S::at(weight + k * columns + v * S::kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) sum[r][v] += w * z[r * inputs + k];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
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
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) cell[r] = S::at(cells + r * columns + c);
#pragma GCC unroll 8
    for (int k = 0; k < kInputs; ++k) {
      const typename S::Vector w = S::at(weight + k * columns + c);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) sum[r][k] += cell[r] * w;
    }
  }
#pragma GCC unroll 8
  for (int k = 0; k < kInputs; ++k) {
    if constexpr (kRows == 4 && S::kLanes >= 4) {
      const typename S::Vector totals = lane_sums<T>(sum[0][k], sum[1][k], sum[2][k], sum[3][k]);
      for (int r = 0; r < kRows; ++r) grad_z[r * inputs + k] = totals[r];
    } else {
      for (int r = 0; r < kRows; ++r) {
        T total = 0;
        for (int lane = 0; lane < S::kLanes; ++lane) total += sum[r][k][lane];
        grad_z[r * inputs + k] = total;
      }
    }
  }
}

/// Calls body(first, tile) for tiles of about one size, at most kMost, that cover the inputs; the
/// tile's size is a constant, tile().
template <int kMost, class Body>
inline void for_tiles(int64_t inputs, const Body& body) {
  static_assert(kMost >= 1 && kMost <= 7);
  for (int64_t k = 0, count = 0; k < inputs; k += count) {
    const int64_t left = inputs - k, tiles = (left + kMost - 1) / kMost;
    count = (left + tiles - 1) / tiles;
    switch (count) {
      case 1:
        body(k, std::integral_constant<int, 1>());
        break;
      case 2:
        if constexpr (kMost >= 2) body(k, std::integral_constant<int, 2>());
        break;
      case 3:
        if constexpr (kMost >= 3) body(k, std::integral_constant<int, 3>());
        break;
      case 4:
        if constexpr (kMost >= 4) body(k, std::integral_constant<int, 4>());
        break;
      case 5:
        if constexpr (kMost >= 5) body(k, std::integral_constant<int, 5>());
        break;
      case 6:
        if constexpr (kMost >= 6) body(k, std::integral_constant<int, 6>());
        break;
      default:
        if constexpr (kMost >= 7) body(k, std::integral_constant<int, 7>());
    }
  }
}

template <class T, int kRows>
inline void products_rows(const T* cells, const T* weight, int64_t inputs, int64_t columns,
                          T* grad_z) {
  for_tiles<kTileInputs>(inputs, [&](int64_t k, auto tile) {
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
#pragma GCC unroll 8
  for (int k = 0; k < kInputs; ++k) {
#pragma GCC unroll 8
    for (int v = 0; v < kTileVectors; ++v) sum[k][v] = S::at(sums + k * columns + v * S::kLanes);
  }
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kTileVectors; ++v) {
      const typename S::Vector cell = S::at(cells + r * columns + v * S::kLanes);
#pragma GCC unroll 8
      for (int k = 0; k < kInputs; ++k) sum[k][v] += cell * z[r * inputs + k];
    }
  }
#pragma GCC unroll 8
  for (int k = 0; k < kInputs; ++k) {
#pragma GCC unroll 8
    for (int v = 0; v < kTileVectors; ++v) S::at(sums + k * columns + v * S::kLanes) = sum[k][v];
  }
}

template <class T>
void head_grad_weights(const T* cells, const T* z, int64_t rows, int64_t inputs, int64_t columns,
                       T* sums) {
  for (int64_t c = 0; c < columns; c += Simd<T>::kSpan) {
    for_tiles<kWideTile>(inputs, [&](int64_t k, auto tile) {
      weights_tile<T, tile()>(cells + c, z + k, rows, inputs, columns, sums + k * columns + c);
    });
  }
}
