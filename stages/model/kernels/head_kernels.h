// Matrix products of the wide heads, in tiles that stay in registers; included by gat_kernels.cpp
// alone, inside the namespace of its instruction set. Weights stand transposed, [inputs, columns],
// columns padded to a multiple of kHeadPadding; cells are [rows, columns].

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kVectors = 4;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kVectors = 2;
#else
constexpr int kVectorBytes = 16, kVectors = 2;
#endif
constexpr int kTile = 4;

template <class T>
struct Simd {
  typedef T Vector __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  static constexpr int kSpan = kVectors * kLanes;  // columns of a tile
  static Vector& at(T* p) { return *reinterpret_cast<Vector*>(p); }
  static const Vector& at(const T* p) { return *reinterpret_cast<const Vector*>(p); }
};

/// Rows [0, kRows) of cells, columns [c, c + kSpan).
template <class T, int kRows>
inline void logits_tile(const T* z, const T* weight, const T* bias, int64_t inputs, int64_t columns,
                        T* cells) {
  using S = Simd<T>;
  typename S::Vector sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = S::at(bias + v * S::kLanes);
  }
  for (int64_t k = 0; k < inputs; ++k) {
    for (int v = 0; v < kVectors; ++v) {
      const typename S::Vector w = S::at(weight + k * columns + v * S::kLanes);
      for (int r = 0; r < kRows; ++r) sum[r][v] += w * z[r * inputs + k];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) S::at(cells + r * columns + v * S::kLanes) = sum[r][v];
  }
}

template <class T>
void head_logits(const T* z, const T* weight, const T* bias, int64_t rows, int64_t inputs,
                 int64_t columns, T* cells) {
  for (int64_t c = 0; c < columns; c += Simd<T>::kSpan) {
    int64_t r = 0;
    for (; r + kTile <= rows; r += kTile) {
      logits_tile<T, kTile>(z + r * inputs, weight + c, bias + c, inputs, columns,
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

template <class T, int kRows>
inline void products_rows(const T* cells, const T* weight, int64_t inputs, int64_t columns,
                          T* grad_z) {
  int64_t k = 0;
  for (; k + kTile <= inputs; k += kTile) {
    products_tile<T, kRows, kTile>(cells, weight + k * columns, inputs, columns, grad_z + k);
  }
  for (; k < inputs; ++k) {
    products_tile<T, kRows, 1>(cells, weight + k * columns, inputs, columns, grad_z + k);
  }
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
  typename S::Vector sum[kInputs][kVectors];
  for (int k = 0; k < kInputs; ++k) {
    for (int v = 0; v < kVectors; ++v) sum[k][v] = S::at(sums + k * columns + v * S::kLanes);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      const typename S::Vector cell = S::at(cells + r * columns + v * S::kLanes);
      for (int k = 0; k < kInputs; ++k) sum[k][v] += cell * z[r * inputs + k];
    }
  }
  for (int k = 0; k < kInputs; ++k) {
    for (int v = 0; v < kVectors; ++v) S::at(sums + k * columns + v * S::kLanes) = sum[k][v];
  }
}

template <class T>
void head_grad_weights(const T* cells, const T* z, int64_t rows, int64_t inputs, int64_t columns,
                       T* sums) {
  for (int64_t c = 0; c < columns; c += Simd<T>::kSpan) {
    int64_t k = 0;
    if (inputs % kTile == 1 && inputs > kTile) {  // the bias' row joins another tile
      weights_tile<T, kTile + 1>(cells + c, z, rows, inputs, columns, sums + c);
      k = kTile + 1;
    }
    for (; k + kTile <= inputs; k += kTile) {
      weights_tile<T, kTile>(cells + c, z + k, rows, inputs, columns, sums + k * columns + c);
    }
    for (; k < inputs; ++k) {
      weights_tile<T, 1>(cells + c, z + k, rows, inputs, columns, sums + k * columns + c);
    }
  }
}
