// Small dense products in tiles that stay in registers; included by tables.cpp alone, inside the
// namespace of its instruction set.

/// Rows of a tile of kTileVectors: with its vectors, those of b and one of a, they fit the
/// registers.
constexpr int kTileRows = 6;
constexpr int kMostTileRows = 12;  // more than these addresses do not fit the registers

/// Vectors of a half or a quarter of the width, for what is left of a row.
template <class T, int kPart>
struct PartSimd {
  static constexpr int kLanes = Simd<T>::kLanes / kPart;
  typedef T Vector
      __attribute__((vector_size(kVectorBytes / kPart), aligned(alignof(T)), may_alias));
  static Vector& at(T* p) { return *reinterpret_cast<Vector*>(p); }
  static const Vector& at(const T* p) { return *reinterpret_cast<const Vector*>(p); }
};
template <class T>
using HalfSimd = PartSimd<T, 2>;

template <class T, class S, int rows, int vectors>
inline void product_tile(const isa::ProductArgs<T>& p, int64_t m, int64_t n) {
  using Vector = typename S::Vector;
  Vector sum[rows][vectors];
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 12
    for (int v = 0; v < vectors; ++v) {
      T* at = p.c + (m + r) * p.c_stride + n + v * S::kLanes;
      sum[r][v] = p.adds ? S::at(at) : Vector{};
    }
  }
  const T* a = p.a + m * p.row;
  const T* b = p.b + n;
  for (int64_t k = 0; k < p.k; ++k, a += p.step, b += p.b_stride) {
    Vector of_b[vectors];
#pragma GCC unroll 12
    for (int v = 0; v < vectors; ++v) of_b[v] = S::at(b + v * S::kLanes);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      const T of_a = a[r * p.row];
#pragma GCC unroll 12
      for (int v = 0; v < vectors; ++v) sum[r][v] += of_a * of_b[v];
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 12
    for (int v = 0; v < vectors; ++v) {
      S::at(p.c + (m + r) * p.c_stride + n + v * S::kLanes) = sum[r][v];
    }
  }
}

/// Columns that fill no vector.
template <class T>
inline void product_edge(const isa::ProductArgs<T>& p, int64_t n) {
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

template <class T, class S, int vectors>
void product_columns(const isa::ProductArgs<T>& p, int64_t n) {
  constexpr int kWanted = kTileRows * kTileVectors / vectors;
  constexpr int kRows = kWanted < kMostTileRows ? kWanted : kMostTileRows;
  int64_t m = 0;
  while (m < p.m) {
    const int64_t left = p.m - m;
    // Of eight rows two fours are better than six and two.
    if (left >= kRows && (kRows != kTileRows || left != 8)) {
      product_tile<T, S, kRows, vectors>(p, m, n);
      m += kRows;
    } else if (kRows > kTileRows && left >= kTileRows) {
      product_tile<T, S, kTileRows, vectors>(p, m, n);
      m += kTileRows;
    } else if (left >= 4) {
      product_tile<T, S, 4, vectors>(p, m, n);
      m += 4;
    } else if (left >= 2) {
      product_tile<T, S, 2, vectors>(p, m, n);
      m += 2;
    } else {
      product_tile<T, S, 1, vectors>(p, m, n);
      m += 1;
    }
  }
}

template <class T>
void product(const isa::ProductArgs<T>& p) {
  using S = Simd<T>;
  constexpr int64_t kLanes = S::kLanes;
  int64_t n = 0;
  for (; n + kTileVectors * kLanes <= p.n; n += kTileVectors * kLanes) {
    product_columns<T, S, kTileVectors>(p, n);
  }
  if constexpr (kTileVectors > 3) {
    if (n + 3 * kLanes <= p.n) {
      product_columns<T, S, 3>(p, n);
      n += 3 * kLanes;
    }
  }
  if constexpr (kTileVectors > 2) {
    if (n + 2 * kLanes <= p.n) {
      product_columns<T, S, 2>(p, n);
      n += 2 * kLanes;
    }
  }
  if (n + kLanes <= p.n) {
    product_columns<T, S, 1>(p, n);
    n += kLanes;
  }
  if constexpr (HalfSimd<T>::kLanes > 1) {
    if (n + HalfSimd<T>::kLanes <= p.n) {
      product_columns<T, HalfSimd<T>, 1>(p, n);
      n += HalfSimd<T>::kLanes;
    }
  }
  if constexpr (kLanes / 4 > 1) {
    if (n + PartSimd<T, 4>::kLanes <= p.n) {
      product_columns<T, PartSimd<T, 4>, 1>(p, n);
      n += PartSimd<T, 4>::kLanes;
    }
  }
  if (n < p.n) product_edge(p, n);
}

/// Rows that far apart swap halves of their groups of lanes.
template <class T, int apart>
inline void transpose_round(typename Simd<T>::Vector (&rows)[Simd<T>::kLanes]) {
  constexpr int kLanes = Simd<T>::kLanes;
  constexpr std::make_integer_sequence<int, kLanes> kEvery{};
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if ((i & apart) != 0) continue;
    const typename Simd<T>::Vector a = rows[i], b = rows[i + apart];
    rows[i] = halves_of<T, apart, false>(a, b, kEvery);
    rows[i + apart] = halves_of<T, apart, true>(a, b, kEvery);
  }
}

/// Of a square of as many rows as lanes, in registers.
template <class T>
inline void transpose_square(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  using S = Simd<T>;
  typename S::Vector rows[S::kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < S::kLanes; ++i) rows[i] = S::at(from + i * from_stride);
  if constexpr (S::kLanes > 8) transpose_round<T, 8>(rows);
  if constexpr (S::kLanes > 4) transpose_round<T, 4>(rows);
  if constexpr (S::kLanes > 2) transpose_round<T, 2>(rows);
  transpose_round<T, 1>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < S::kLanes; ++i) S::at(to + i * to_stride) = rows[i];
}

template <class T>
void transpose(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
               int64_t columns) {
  constexpr int64_t kTile = Simd<T>::kLanes;
  for (int64_t i = 0; i < rows; i += kTile) {
    const int64_t end_i = i + kTile < rows ? i + kTile : rows;
    for (int64_t j = 0; j < columns; j += kTile) {
      const int64_t end_j = j + kTile < columns ? j + kTile : columns;
      if (end_i - i == kTile && end_j - j == kTile) {
        transpose_square(from + i * from_stride + j, from_stride, to + j * to_stride + i,
                         to_stride);
        continue;
      }
      for (int64_t jj = j; jj < end_j; ++jj) {
        for (int64_t ii = i; ii < end_i; ++ii) {
          to[jj * to_stride + ii] = from[ii * from_stride + jj];
        }
      }
    }
  }
}

template <class T>
inline T* row_at(const isa::Rows<T>& rows, int64_t i) {
  return rows.data + (rows.numbers == nullptr ? i : rows.numbers[i]) * rows.stride;
}

/// Asks for columns [first, last) of the rows [begin, end), whose places no prefetcher can foresee.
template <class T>
inline void fetch_rows(const isa::Rows<T>& rows, int32_t first, int32_t last, int64_t begin,
                       int64_t end) {
  if (rows.numbers == nullptr) return;
  constexpr int32_t kLine = 64 / static_cast<int32_t>(sizeof(T));
  for (int64_t i = begin; i < end; ++i) {
    const T* row = row_at(rows, i);
    for (int32_t n = first; n < last; n += kLine) __builtin_prefetch(row + n);
    __builtin_prefetch(row + last - 1);
  }
}

/// Columns [n, n + lanes) of a sum, of the rows [begin, end).
template <class T, class S>
inline void row_sum(const isa::RowSums<T>& p, const isa::RowSum& sum, int32_t n,
                    const isa::Rows<const T>& ys, const isa::Rows<const T>& xs,
                    const isa::Rows<T>& outs, int64_t begin, int64_t end) {
  const isa::RowTerm<T>* terms = p.terms + sum.begin;
  const int32_t count = sum.end - sum.begin;
  for (int64_t i = begin; i < end; ++i) {
    const T *y = row_at(ys, i), *x = row_at(xs, i) + n;
    T* out = row_at(outs, i) + sum.to + n;
    typename S::Vector total = p.adds ? S::at(out) : typename S::Vector{};
    for (int32_t t = 0; t < count; ++t) {
      total += (terms[t].value * y[terms[t].factor]) * S::at(x + terms[t].from);
    }
    S::at(out) = total;
  }
}

template <class T>
void row_sums(const isa::RowSums<T>& p, const isa::Rows<const T>& y, const isa::Rows<const T>& x,
              const isa::Rows<T>& out, int64_t count) {
  constexpr int kLanes = Simd<T>::kLanes, kHalf = HalfSimd<T>::kLanes;
  constexpr int64_t kChunk = 32;  // rows that stay in the first cache from sum to sum
  if (p.count == 0) return;
  int32_t x_first = p.terms[0].from, x_last = 0, out_first = p.sums[0].to, out_last = 0;
  for (int64_t s = 0; s < p.count; ++s) {
    const isa::RowSum& sum = p.sums[s];
    out_first = sum.to < out_first ? sum.to : out_first;
    out_last = sum.to + sum.size > out_last ? sum.to + sum.size : out_last;
    for (int32_t t = sum.begin; t < sum.end; ++t) {
      const int32_t from = p.terms[t].from;
      x_first = from < x_first ? from : x_first;
      x_last = from + sum.size > x_last ? from + sum.size : x_last;
    }
  }
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t end = begin + kChunk < count ? begin + kChunk : count;
    fetch_rows(x, x_first, x_last, begin, end);
    fetch_rows(out, out_first, out_last, begin, end);
    for (int64_t s = 0; s < p.count; ++s) {
      const isa::RowSum& sum = p.sums[s];
      int32_t n = 0;
      for (; n + kLanes <= sum.size; n += kLanes) {
        row_sum<T, Simd<T>>(p, sum, n, y, x, out, begin, end);
      }
      if constexpr (kHalf > 1) {
        if (n + kHalf <= sum.size) {
          row_sum<T, HalfSimd<T>>(p, sum, n, y, x, out, begin, end);
          n += kHalf;
        }
      }
      for (; n < sum.size; ++n) row_sum<T, OneLane<T>>(p, sum, n, y, x, out, begin, end);
    }
  }
}

template <class T>
void silu(const T* x, T* out, int64_t size) {
#pragma omp simd
  for (int64_t i = 0; i < size; ++i) out[i] = x[i] / (T(1) + exp_of(-x[i]));
}

template <class T>
void silu_grad(const T* x, T* grad, int64_t size) {
#pragma omp simd
  for (int64_t i = 0; i < size; ++i) {
    const T share = T(1) / (T(1) + exp_of(-x[i]));
    grad[i] *= share * (T(1) + x[i] * (T(1) - share));
  }
}
