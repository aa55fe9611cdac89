// Norms, ReLU, dropout and means over rows; included by tables.cpp alone, inside the namespace of
// its instruction set, after dropout_hash.h and simd.h.

template <class T>
void relu_drop(const T* x, int64_t count, DropKey key, T scale, T* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const bool keep = hash(static_cast<uint32_t>(i), key.low, key.high) >= key.threshold;
    const T value = x[i] > 0 ? x[i] * scale : T(0);
    out[i] = keep ? value : T(0);
  }
}

template <class T>
void relu_drop_backward(const T* out, const T* grad, int64_t count, T scale, T* grad_x) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) grad_x[i] = out[i] > 0 ? grad[i] * scale : T(0);
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

/// Calls body.operator()<S>(first) for each vector of a row, and then for each column that fills none.
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

/// Calls body.operator()<S, vectors>(column, first_row, last_row) for all rows of runs of columns, which
/// adds to their sums. Sums of narrow rows stay in registers from row to row; wide ones are read row by
/// row, as memory stands, which is 2 to 3 times faster where they are in no cache. The order in which a
/// column's rows are added is the same.
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
