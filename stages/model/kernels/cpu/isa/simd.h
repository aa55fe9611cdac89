// Vectors of the instruction set's width; included by tables.cpp alone, inside the namespace of its
// instruction set.

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
