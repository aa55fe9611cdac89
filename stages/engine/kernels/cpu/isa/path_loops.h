// Rows of third-order paths: sums with what their runs and nodes have in common, and radial basis
// functions; included by tables.cpp alone, inside the namespace of its instruction set.
// All work on the columns [begin, end) of their rows, so that threads can share the columns.

template <class T>
void add_runs(const RunArgs<T>& a, int64_t begin, int64_t end) {
  for (int64_t r = 0; r < a.runs; ++r) {
    const T* of_run = a.of_run + r * a.columns;
    for (int64_t row = a.ptr[r]; row < a.ptr[r + 1]; ++row) {
      T* x = a.x + row * a.columns;
      const T* node = a.table + a.node[row] * a.stride;
      if (a.relu) {
#pragma omp simd
        for (int64_t c = begin; c < end; ++c) {
          const T sum = x[c] + of_run[c] + node[c];
          x[c] = sum > 0 ? sum : T(0);
        }
      } else {
#pragma omp simd
        for (int64_t c = begin; c < end; ++c) x[c] += of_run[c] + node[c];
      }
    }
  }
}

template <class T>
void sum_runs(const RunArgs<T>& a, const T* out, int64_t begin, int64_t end) {
  for (int64_t r = 0; r < a.runs; ++r) {
    T* of_run = a.of_run + r * a.columns;
    for (int64_t c = begin; c < end; ++c) of_run[c] = 0;
    for (int64_t row = a.ptr[r]; row < a.ptr[r + 1]; ++row) {
      T* x = a.x + row * a.columns;
      T* node = a.table + a.node[row] * a.stride;
      if (a.relu) {
        const T* y = out + row * a.columns;
#pragma omp simd
        for (int64_t c = begin; c < end; ++c) x[c] = y[c] > 0 ? x[c] : T(0);
      }
#pragma omp simd
      for (int64_t c = begin; c < end; ++c) {
        of_run[c] += x[c];
        node[c] += x[c];
      }
    }
  }
}

template <class T>
void relu_sum(const StartArgs<T>& a, T* sums, int64_t begin, int64_t end) {
  for (int64_t r = 0; r < a.runs; ++r) {
    T* sum = sums + a.node[r] * a.columns;
    for (int64_t row = a.ptr[r]; row < a.ptr[r + 1]; ++row) {
      const T* x = a.x + row * a.columns;
#pragma omp simd
      for (int64_t c = begin; c < end; ++c) {
        const T y = x[c] + a.bias[c];
        sum[c] += y > 0 ? y : T(0);
      }
    }
  }
}

template <class T>
void relu_sum_backward(const StartArgs<T>& a, const T* grad_sums, T* grad_bias, int64_t begin,
                       int64_t end) {
  for (int64_t r = 0; r < a.runs; ++r) {
    const T* grad = grad_sums + a.node[r] * a.columns;
    for (int64_t row = a.ptr[r]; row < a.ptr[r + 1]; ++row) {
      T* x = a.x + row * a.columns;
#pragma omp simd
      for (int64_t c = begin; c < end; ++c) {
        const T g = x[c] + a.bias[c] > 0 ? grad[c] : T(0);
        x[c] = g;
        grad_bias[c] += g;
      }
    }
  }
}

template <class T>
void smear(const SmearArgs<T>& a, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const T x = a.x[row];
    T* out = a.out + row * a.stride;
#pragma omp simd
    for (int64_t m = 0; m < a.centres; ++m) {
      T difference = x - static_cast<T>(m) * a.spacing;
      if (a.period > 0) {  // on the circle: the nearest of the differences
        difference -= a.period * __builtin_floor(difference / a.period + T(0.5));
      }
      const T scaled = difference / a.spacing;
      out[m] = exp_of(T(-0.5) * scaled * scaled);
    }
  }
}
