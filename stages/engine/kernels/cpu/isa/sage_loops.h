// GraphSAGE layers on compressed rows; included by tables.cpp alone, inside the namespace of its
// instruction set, after simd.h.

inline int64_t node_of(const SageRows& graph, int64_t row) {
  return graph.node == nullptr ? row : graph.node[row];
}

/// Columns [c, c + kVectors * lanes): best and its place stay in registers along a row of
/// neighbours.
template <class T, int kVectors>
void max_block(const SageArgs<T>& a, int64_t begin, int64_t end, int64_t c) {
  using S = Simd<T>;
  const SageRows& g = a.graph;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t v = node_of(g, r);
    const int32_t first = g.begin[v], last = g.end[v];
    T* m = a.m + r * a.m_stride + c;
    int32_t* argmax = a.argmax + r * a.columns + c;
    typename S::Vector best[kVectors];
    typename S::Indices place[kVectors];
    for (int k = 0; k < kVectors; ++k) {
      best[k] = typename S::Vector{} + T(0);
      place[k] = typename S::Indices{} - 1;
    }
    if (first < last) {
      const T* row = a.h + g.col[first] * a.h_stride + c;
      for (int k = 0; k < kVectors; ++k) {
        best[k] = S::at(row + k * S::kLanes);
        place[k] = typename S::Indices{} + g.col[first];
      }
      for (int32_t e = first + 1; e < last; ++e) {
        const int32_t source = g.col[e];
        row = a.h + source * a.h_stride + c;
        for (int k = 0; k < kVectors; ++k) {
          const typename S::Vector x = S::at(row + k * S::kLanes);
          const auto is_more = x > best[k];
          best[k] = is_more ? x : best[k];
          place[k] = is_more ? typename S::Indices{} + source : place[k];
        }
      }
    }
    for (int k = 0; k < kVectors; ++k) {
      S::at(m + k * S::kLanes) = best[k];
      for (int i = 0; i < S::kLanes; ++i) {
        argmax[k * S::kLanes + i] = static_cast<int32_t>(place[k][i]);
      }
    }
  }
}

template <class T>
void max_tail(const SageArgs<T>& a, int64_t begin, int64_t end, int64_t c) {
  const SageRows& g = a.graph;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t v = node_of(g, r);
    T* m = a.m + r * a.m_stride;
    int32_t* argmax = a.argmax + r * a.columns;
    for (int64_t k = c; k < a.columns; ++k) {
      m[k] = 0;
      argmax[k] = -1;
    }
    for (int32_t e = g.begin[v]; e < g.end[v]; ++e) {
      const T* row = a.h + g.col[e] * a.h_stride;
      for (int64_t k = c; k < a.columns; ++k) {
        if (argmax[k] >= 0 && row[k] <= m[k]) continue;
        m[k] = row[k];
        argmax[k] = g.col[e];
      }
    }
  }
}

template <class T>
void max_rows(const SageArgs<T>& a, int64_t begin, int64_t end) {
  constexpr int64_t kLanes = Simd<T>::kLanes;
  int64_t c = 0;
  for (; c + 4 * kLanes <= a.columns; c += 4 * kLanes) max_block<T, 4>(a, begin, end, c);
  for (; c + kLanes <= a.columns; c += kLanes) max_block<T, 1>(a, begin, end, c);
  if (c < a.columns) max_tail(a, begin, end, c);
}

template <class T, int kVectors>
void mean_block(const SageArgs<T>& a, int64_t begin, int64_t end, int64_t c) {
  using S = Simd<T>;
  const SageRows& g = a.graph;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t v = node_of(g, r);
    const int32_t first = g.begin[v], last = g.end[v];
    typename S::Vector sum[kVectors];
    for (int k = 0; k < kVectors; ++k) sum[k] = typename S::Vector{} + T(0);
    for (int32_t e = first; e < last; ++e) {
      const T* row = a.h + g.col[e] * a.h_stride + c;
      for (int k = 0; k < kVectors; ++k) sum[k] += S::at(row + k * S::kLanes);
    }
    const T inverse = first < last ? T(1) / static_cast<T>(last - first) : T(0);
    T* m = a.m + r * a.m_stride + c;
    for (int k = 0; k < kVectors; ++k) S::at(m + k * S::kLanes) = sum[k] * inverse;
  }
}

template <class T>
void sage_mean_rows(const SageArgs<T>& a, int64_t begin, int64_t end) {
  constexpr int64_t kLanes = Simd<T>::kLanes;
  const SageRows& g = a.graph;
  int64_t c = 0;
  for (; c + 4 * kLanes <= a.columns; c += 4 * kLanes) mean_block<T, 4>(a, begin, end, c);
  for (; c + kLanes <= a.columns; c += kLanes) mean_block<T, 1>(a, begin, end, c);
  for (int64_t r = begin; c < a.columns && r < end; ++r) {
    const int64_t v = node_of(g, r);
    const int32_t first = g.begin[v], last = g.end[v];
    const T inverse = first < last ? T(1) / static_cast<T>(last - first) : T(0);
    for (int64_t k = c; k < a.columns; ++k) {
      T sum = 0;
      for (int32_t e = first; e < last; ++e) sum += a.h[g.col[e] * a.h_stride + k];
      a.m[r * a.m_stride + k] = sum * inverse;
    }
  }
}

template <class T>
void max_scatter(const SageGradArgs<T>& a, int64_t begin, int64_t end) {
  for (int64_t r = 0; r < a.graph.rows; ++r) {
    const T* grad = a.grad_m + r * a.m_stride;
    const int32_t* argmax = a.argmax + r * a.columns;
    if (begin < end && argmax[begin] < 0) continue;  // no neighbour at all
    for (int64_t c = begin; c < end; ++c) a.grad_h[argmax[c] * a.columns + c] += grad[c];
  }
}

template <class T>
void mean_scatter(const SageGradArgs<T>& a, int64_t begin, int64_t end) {
  const SageRows& g = a.graph;
  for (int64_t r = 0; r < g.rows; ++r) {
    const int64_t v = node_of(g, r);
    const int32_t first = g.begin[v], last = g.end[v];
    if (first == last) continue;
    const T inverse = T(1) / static_cast<T>(last - first);
    const T* __restrict grad = a.grad_m + r * a.m_stride;
    for (int32_t e = first; e < last; ++e) {
      T* __restrict to = a.grad_h + g.col[e] * a.columns;
#pragma omp simd
      for (int64_t c = begin; c < end; ++c) to[c] += grad[c] * inverse;
    }
  }
}

inline uint64_t mix(uint64_t z) {  // splitmix64's finaliser
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

template <class T>
void activate(const SageActivation<T>& a, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const T* __restrict z = a.z + r * a.columns;
    const T* __restrict h = a.h == nullptr ? nullptr : a.h + r * a.h_stride;
    const T* __restrict bias = a.bias;
    T* __restrict out = a.out + r * a.out_stride;
    const uint64_t key = mix(a.drop.base ^ mix(static_cast<uint64_t>(r)));
    const auto low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
    const int32_t threshold = a.drop.threshold;
    const T scale = a.scale;
    if (h == nullptr) {
      for (int64_t c = 0; c < a.columns; ++c) out[c] = z[c] + bias[c];
    } else {
#pragma omp simd
      for (int64_t c = 0; c < a.columns; ++c) out[c] = z[c] + h[c] + bias[c];
    }
#pragma omp simd
    for (int64_t c = 0; c < a.columns; ++c) {
      const bool keep = hash(static_cast<uint32_t>(c), low, high) >= threshold;
      const T value = out[c] > 0 ? out[c] * scale : T(0);
      out[c] = keep ? value : T(0);
    }
  }
}

template <class T>
void activate_grad(const T* out, int64_t stride, int64_t columns, T scale, T* grad, int64_t begin,
                   int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const T* __restrict from = out + r * stride;
    T* __restrict to = grad + r * columns;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) to[c] = from[c] > 0 ? to[c] * scale : T(0);
  }
}

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

template <class T>
void adam(const AdamArgs<T>& a, int64_t begin, int64_t end) {
  const T step = a.lr / a.correction1, inverse = T(1) / a.correction2;
  T* __restrict weight = a.weight;
  T* __restrict first = a.first;
  T* __restrict second = a.second;
  const T* __restrict grad = a.grad;
  const T beta1 = a.beta1, beta2 = a.beta2, epsilon = a.epsilon, decay = a.decay;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const T g = grad[i] + decay * weight[i];
    first[i] = beta1 * first[i] + (1 - beta1) * g;
    second[i] = beta2 * second[i] + (1 - beta2) * g * g;
    weight[i] -= step * first[i] / (root(second[i]) * inverse + epsilon);
  }
}
