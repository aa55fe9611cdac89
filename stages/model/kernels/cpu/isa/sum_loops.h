// Sums over the neighbours of nodes; included by tables.cpp alone, inside the namespace of its
// instruction set, after simd.h.

constexpr int kSumVectors = 4;  // sums of so many vectors stay in registers

/// The columns [first, first + kCount vectors) of out_i.
template <class T, int kCount>
inline void gather_columns(const SumArgs<T>& a, int64_t i, int64_t first) {
  using S = Simd<T>;
  typename S::Vector sums[kCount] = {};
  for (int32_t e = a.in_ptr[i]; e < a.in_ptr[i + 1]; ++e) {
    if (a.source[e] == i) continue;
    const T* x = a.x + a.source[e] * a.columns + first;
    for (int v = 0; v < kCount; ++v) sums[v] += S::at(x + v * S::kLanes);
  }
  T* out = a.out + i * a.columns + first;
  for (int v = 0; v < kCount; ++v) S::at(out + v * S::kLanes) = sums[v];
}

template <class T>
void gather(const SumArgs<T>& a, int64_t begin, int64_t end) {
  constexpr int64_t kLanes = Simd<T>::kLanes;
  for (int64_t i = begin; i < end; ++i) {
    int64_t c = 0;
    for (; c + kSumVectors * kLanes <= a.columns; c += kSumVectors * kLanes)
      gather_columns<T, kSumVectors>(a, i, c);
    for (; c + 2 * kLanes <= a.columns; c += 2 * kLanes) gather_columns<T, 2>(a, i, c);
    for (; c + kLanes <= a.columns; c += kLanes) gather_columns<T, 1>(a, i, c);
    if (c == a.columns) continue;
    T* out = a.out + i * a.columns;
    for (int64_t rest = c; rest < a.columns; ++rest) out[rest] = 0;
    for (int32_t e = a.in_ptr[i]; e < a.in_ptr[i + 1]; ++e) {
      if (a.source[e] == i) continue;
      const T* x = a.x + a.source[e] * a.columns;
      for (int64_t rest = c; rest < a.columns; ++rest) out[rest] += x[rest];
    }
  }
}

template <class T>
void scatter(const SumArgs<T>& a, int64_t begin, int64_t end) {
  using S = Simd<T>;
  for (int64_t i = begin; i < end; ++i) {
    const T* x = a.x + i * a.columns;
    for (int32_t e = a.in_ptr[i]; e < a.in_ptr[i + 1]; ++e) {
      if (a.source[e] == i) continue;
      T* out = a.out + a.source[e] * a.columns;
      int64_t c = 0;
      for (; c + S::kLanes <= a.columns; c += S::kLanes) S::at(out + c) += S::at(x + c);
      for (; c < a.columns; ++c) out[c] += x[c];
    }
  }
}
