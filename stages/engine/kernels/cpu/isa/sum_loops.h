// Sums over the neighbours of nodes; included by tables.cpp alone, inside the namespace of its
// instruction set, after simd.h.

constexpr int kSumVectors = 4;  // sums of so many vectors stay in registers

/// The columns [first, first + kCount vectors) of out_i.
template <class T, int kCount>
inline void gather_columns(const SumArgs<T>& a, int64_t i, int64_t first) {
  using S = Simd<T>;
  typename S::Vector sums[kCount] = {};
  if (a.own != 0) {
    const T* x = a.x + i * a.columns + first;
    for (int v = 0; v < kCount; ++v) sums[v] = a.own * S::at(x + v * S::kLanes);
  }
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
    const T* own = a.x + i * a.columns;
    for (int64_t rest = c; rest < a.columns; ++rest)
      out[rest] = a.own != 0 ? a.own * own[rest] : T(0);
    for (int32_t e = a.in_ptr[i]; e < a.in_ptr[i + 1]; ++e) {
      if (a.source[e] == i) continue;
      const T* x = a.x + a.source[e] * a.columns;
      for (int64_t rest = c; rest < a.columns; ++rest) out[rest] += x[rest];
    }
  }
}

template <class T>
inline void add_row(const T* x, T factor, int64_t columns, T* out) {
  using S = Simd<T>;
  int64_t c = 0;
  for (; c + S::kLanes <= columns; c += S::kLanes) S::at(out + c) += factor * S::at(x + c);
  for (; c < columns; ++c) out[c] += factor * x[c];
}

template <class T>
void scatter(const SumArgs<T>& a, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const T* x = a.x + (i - a.first) * a.columns;
    if (a.own != 0) add_row(x, a.own, a.columns, a.out + i * a.columns);
    for (int32_t e = a.in_ptr[i]; e < a.in_ptr[i + 1]; ++e) {
      if (a.source[e] != i) add_row(x, T(1), a.columns, a.out + a.source[e] * a.columns);
    }
  }
}
