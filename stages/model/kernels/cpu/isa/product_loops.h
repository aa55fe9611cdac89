// Small dense products in tiles that stay in registers; included by tables.cpp alone, inside the
// namespace of its instruction set.

/// Rows of a tile: with its vectors, those of b and one of a, they fit the registers.
constexpr int kTileRows = 6;

template <class T, int rows, int vectors>
inline void product_tile(const kernels::ProductArgs<T>& p, int64_t m, int64_t n) {
  using S = Simd<T>;
  using Vector = typename S::Vector;
  Vector sum[rows][vectors];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      T* at = p.c + (m + r) * p.c_stride + n + v * S::kLanes;
      sum[r][v] = p.adds ? S::at(at) : Vector{};
    }
  }
  const T* a = p.a + m * p.row;
  const T* b = p.b + n;
  for (int64_t k = 0; k < p.k; ++k, a += p.step, b += p.b_stride) {
    Vector of_b[vectors];
    for (int v = 0; v < vectors; ++v) of_b[v] = S::at(b + v * S::kLanes);
    for (int r = 0; r < rows; ++r) {
      const T of_a = a[r * p.row];
      for (int v = 0; v < vectors; ++v) sum[r][v] += of_a * of_b[v];
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      S::at(p.c + (m + r) * p.c_stride + n + v * S::kLanes) = sum[r][v];
    }
  }
}

/// Columns that fill no vector.
template <class T>
inline void product_edge(const kernels::ProductArgs<T>& p, int64_t n) {
  for (int64_t m = 0; m < p.m; ++m) {
    for (int64_t column = n; column < p.n; ++column) {
      T sum = p.adds ? p.c[m * p.c_stride + column] : T(0);
      const T* a = p.a + m * p.row;
      const T* b = p.b + column;
      for (int64_t k = 0; k < p.k; ++k) sum += a[k * p.step] * b[k * p.b_stride];
      p.c[m * p.c_stride + column] = sum;
    }
  }
}

template <class T, int vectors>
inline void product_columns(const kernels::ProductArgs<T>& p, int64_t n) {
  int64_t m = 0;
  for (; m + kTileRows <= p.m; m += kTileRows) product_tile<T, kTileRows, vectors>(p, m, n);
  for (; m + 2 <= p.m; m += 2) product_tile<T, 2, vectors>(p, m, n);
  for (; m < p.m; ++m) product_tile<T, 1, vectors>(p, m, n);
}

template <class T>
void product(const kernels::ProductArgs<T>& p) {
  constexpr int kLanes = Simd<T>::kLanes;
  int64_t n = 0;
  for (; n + kTileVectors * kLanes <= p.n; n += kTileVectors * kLanes) {
    product_columns<T, kTileVectors>(p, n);
  }
  for (; n + kLanes <= p.n; n += kLanes) product_columns<T, 1>(p, n);
  if (n < p.n) product_edge(p, n);
}

template <class T>
void transpose(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
               int64_t columns) {
  constexpr int64_t kTile = 16;  // both sides of a tile stay in the first cache
  for (int64_t i = 0; i < rows; i += kTile) {
    const int64_t end_i = i + kTile < rows ? i + kTile : rows;
    for (int64_t j = 0; j < columns; j += kTile) {
      const int64_t end_j = j + kTile < columns ? j + kTile : columns;
      for (int64_t jj = j; jj < end_j; ++jj) {
        for (int64_t ii = i; ii < end_i; ++ii) {
          to[jj * to_stride + ii] = from[ii * from_stride + jj];
        }
      }
    }
  }
}
