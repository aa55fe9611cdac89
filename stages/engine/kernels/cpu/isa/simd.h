// Vectors of the instruction set's width; included by tables.cpp alone, inside the namespace of its
// instruction set.
//
// A tile is an array of vectors that is to stay in registers. Loops over it are unrolled by pragma:
// left to itself GCC unrolls them after the last pass that takes arrays apart, and the tile is
// copied to the stack and back around the loop that it was made for.

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kTileVectors = 4;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kTileVectors = 2;
#else
constexpr int kVectorBytes = 16, kTileVectors = 2;
#endif

template <class T>
struct IndexOf;
template <>
struct IndexOf<float> {
  using Type = int32_t;
};
template <>
struct IndexOf<double> {
  using Type = int64_t;
};

template <class T>
struct Simd {
  using Index = typename IndexOf<T>::Type;
  typedef T Vector __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
  typedef Index Indices __attribute__((vector_size(kVectorBytes)));
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  static constexpr int kSpan = kTileVectors * kLanes;  // columns of a tile of the heads
  static Vector& at(T* p) { return *reinterpret_cast<Vector*>(p); }
  static const Vector& at(const T* p) { return *reinterpret_cast<const Vector*>(p); }
};

/// What is left of a row, one by one.
template <class T>
struct OneLane {
  using Vector = T;
  static constexpr int kLanes = 1;
  static T& at(T* p) { return *p; }
  static const T& at(const T* p) { return *p; }
};

/// Lanes of two vectors that stand `apart`, for the first of them or, is_high, the second: each
/// keeps one half of its groups of lanes and takes one of the other's.
template <class T, int apart, bool is_high, int... lane>
inline typename Simd<T>::Vector halves_of(const typename Simd<T>::Vector& a,
                                          const typename Simd<T>::Vector& b,
                                          std::integer_sequence<int, lane...>) {
  constexpr int kLanes = sizeof...(lane);
  return __builtin_shufflevector(a, b,
                                 ((lane & apart) != 0 ? kLanes + lane - (is_high ? 0 : apart)
                                                      : lane + (is_high ? apart : 0))...);
}

/// Sums of lanes that stand `apart`: of a where that bit of the lane's number is 0, else of b.
template <class T, int apart>
inline typename Simd<T>::Vector folded(const typename Simd<T>::Vector& a,
                                       const typename Simd<T>::Vector& b) {
  constexpr std::make_integer_sequence<int, Simd<T>::kLanes> kEvery{};
  return halves_of<T, apart, false>(a, b, kEvery) + halves_of<T, apart, true>(a, b, kEvery);
}

/// The sums of the lanes of four vectors, in lanes 0 to 3; of at least four lanes.
template <class T>
inline typename Simd<T>::Vector lane_sums(const typename Simd<T>::Vector& a,
                                          const typename Simd<T>::Vector& b,
                                          const typename Simd<T>::Vector& c,
                                          const typename Simd<T>::Vector& d) {
  typename Simd<T>::Vector sum = folded<T, 2>(folded<T, 1>(a, b), folded<T, 1>(c, d));
  if constexpr (Simd<T>::kLanes > 4) sum = folded<T, 4>(sum, sum);
  if constexpr (Simd<T>::kLanes > 8) sum = folded<T, 8>(sum, sum);
  return sum;
}
