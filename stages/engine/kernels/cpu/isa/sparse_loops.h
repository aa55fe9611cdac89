// Products of a sparse matrix in compressed rows; included by tables.cpp alone, inside the
// namespace of its instruction set, after simd.h.

constexpr int kSparseVectors = 4;  // twice as many sums and the panel's own fit in 16 registers

/// Even and odd nonzeros have sums of their own: one alone would wait for each multiply-add. So a
/// row's sum is the same whatever the width of the panel.
template <class T, int kCount>
inline void sparse_rows_of(const SparseArgs<T>& a, int64_t begin, int64_t end) {
  using S = Simd<T>;
  constexpr int64_t kAhead = 4;  // rows whose nonzeros are fetched beforehand
  for (int64_t r = begin; r < end; ++r) {
    if (r + kAhead < end) {
      __builtin_prefetch(a.col + a.first[r + kAhead]);
      __builtin_prefetch(a.value + a.first[r + kAhead]);
    }
    typename S::Vector even[kCount] = {}, odd[kCount] = {};
    int32_t e = a.first[r];
    const int32_t last = a.last[r];
    for (; e + 1 < last; e += 2) {
      const T* x = a.panel + a.col[e] * a.width;
      const T* y = a.panel + a.col[e + 1] * a.width;
      for (int v = 0; v < kCount; ++v) {
        even[v] += S::at(x + v * S::kLanes) * a.value[e];
        odd[v] += S::at(y + v * S::kLanes) * a.value[e + 1];
      }
    }
    if (e < last) {
      const T* x = a.panel + a.col[e] * a.width;
      for (int v = 0; v < kCount; ++v) even[v] += S::at(x + v * S::kLanes) * a.value[e];
    }
    T* out = a.out + a.row[r] * a.stride;
    for (int v = 0; v < kCount; ++v) {
      even[v] += odd[v];
      T* to = out + v * S::kLanes;
      const int64_t left = a.columns - v * S::kLanes;
      if (left >= S::kLanes) {
        S::at(to) = a.add ? S::at(to) + even[v] : even[v];
      } else {
        for (int64_t lane = 0; lane < left; ++lane) {
          to[lane] = a.add ? to[lane] + even[v][lane] : even[v][lane];
        }
      }
    }
  }
}

template <class T>
void sparse_rows(const SparseArgs<T>& a, int64_t begin, int64_t end) {
  switch (a.width / Simd<T>::kLanes) {
    case 1:
      return sparse_rows_of<T, 1>(a, begin, end);
    case 2:
      return sparse_rows_of<T, 2>(a, begin, end);
    case 3:
      return sparse_rows_of<T, 3>(a, begin, end);
    default:
      return sparse_rows_of<T, kSparseVectors>(a, begin, end);
  }
}
