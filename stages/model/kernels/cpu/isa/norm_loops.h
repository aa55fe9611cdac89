// Norms, ReLU, dropout and means over rows; included by tables.cpp alone, inside the namespace of
// its instruction set, after dropout_hash.h.

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

template <class T>
void column_sums(const T* x, const T* mean, int64_t rows, int64_t columns, int power, T* sums) {
  for (int64_t c = 0; c < columns; ++c) sums[c] = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * columns;
    if (power == 1) {
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) sums[c] += row[c];
    } else {
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) {
        const T d = row[c] - mean[c];
        sums[c] += d * d;
      }
    }
  }
}

template <class T>
void norm_grad_sums(const T* x, const T* mean, const T* out, const T* grad, T scale, int64_t rows,
                    int64_t columns, T* sum_g, T* sum_gx) {
  for (int64_t c = 0; c < columns; ++c) sum_g[c] = sum_gx[c] = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * columns;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
      const T g = out[at + c] > 0 ? grad[at + c] * scale : T(0);
      sum_g[c] += g;
      sum_gx[c] += g * (x[at + c] - mean[c]);
    }
  }
}

template <class T>
void norm_grad(const T* x, const T* mean, const T* out, const T* grad, T scale, const T* a,
               const T* b, const T* c, int64_t rows, int64_t columns, T* grad_x) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * columns;
#pragma omp simd
    for (int64_t k = 0; k < columns; ++k) {
      const T g = out[at + k] > 0 ? grad[at + k] * scale : T(0);
      grad_x[at + k] = g * a[k] - (x[at + k] - mean[k]) * b[k] - c[k];
    }
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
