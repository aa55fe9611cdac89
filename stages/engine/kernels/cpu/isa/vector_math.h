// exp and log that vectorise; included by tables.cpp alone, inside the namespace of its instruction
// set.

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

inline float exp_of(float x) { return kdgat_expf(x); }
inline double exp_of(double x) { return __builtin_exp(x); }

/// log of a positive number to 2 units in the last place (Cephes logf), without branches.
inline float log_of(float x) {
  constexpr uint32_t kHalfRoot = 0x3F3504F3u;  // sqrt(1/2): x = 2^k * m with m in [0.707, 1.414)
  const uint32_t shifted = bits_as<uint32_t>(x) - kHalfRoot;
  const auto k = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  const float m = bits_as<float>((shifted & 0x007FFFFFu) + kHalfRoot) - 1.0f;
  const float q = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  p = p * m * q + k * -2.12194440e-4f - 0.5f * q;
  return m + p + k * 0.693359375f;
}
inline double log_of(double x) { return __builtin_log(x); }

/// What frexp gives of a positive, normal number: x = mantissa * 2^exponent, mantissa in [1/2, 1).
inline int32_t exponent_of(float x) {
  return static_cast<int32_t>(bits_as<uint32_t>(x) >> 23) - 126;
}
inline float mantissa_of(float x) {
  return bits_as<float>((bits_as<uint32_t>(x) & 0x007FFFFFu) | 0x3F000000u);
}
inline int32_t exponent_of(double x) {
  return static_cast<int32_t>(bits_as<uint64_t>(x) >> 52) - 1022;
}
inline double mantissa_of(double x) {
  return bits_as<double>((bits_as<uint64_t>(x) & 0x000FFFFFFFFFFFFFull) | 0x3FE0000000000000ull);
}

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#define KDGAT_VECTOR_EXP

using Floats = Simd<float>::Vector;
using Bits = Simd<float>::Indices;

/// The greater of each pair; b where either is NaN.
inline Floats greater(Floats a, Floats b) {
#if defined(__AVX512F__)
  return (Floats)_mm512_mask_max_ps((__m512)a, 0xFFFF, (__m512)a,
                                    (__m512)b);  // GCC warns of the plain one
#else
  return (Floats)_mm256_max_ps((__m256)a, (__m256)b);
#endif
}

/// Lanes that stand `apart` change places.
template <int apart, int... lane>
inline Floats swapped(Floats x, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(x, x, (lane ^ apart)...);
}

/// What join(a, b) makes of all lanes, in pairs.
template <int apart = 1, class Join>
inline float over_lanes(Floats x, const Join& join) {
  if constexpr (apart < Simd<float>::kLanes) {
    constexpr std::make_integer_sequence<int, Simd<float>::kLanes> kEvery{};
    return over_lanes<2 * apart>(join(x, swapped<apart>(x, kEvery)), join);
  } else {
    return x[0];
  }
}

/// exp of numbers of at most 0, to 2 units in the last place; of less than -87 that of -87. NaN, as
/// arithmetic makes it, stays NaN. With
/// multiply-adds one step takes off the whole powers of 2. Its constants stay in registers: GCC
/// would fetch them each time, and loads are short in these loops.
class ExpBelow {
 public:
  template <int kCount>
  void operator()(Floats (&x)[kCount]) const {
    Floats rounded[kCount], p[kCount];
    each<kCount>([&](int v) { x[v] = greater(least_, x[v]); });
    each<kCount>([&](int v) { rounded[v] = x[v] * per_log2_ + round_; });
    each<kCount>([&](int v) { p[v] = rounded[v] - round_; });
    each<kCount>([&](int v) { x[v] -= p[v] * log2_; });
    each<kCount>([&](int v) { p[v] = x[v] * c6_ + c5_; });
    each<kCount>([&](int v) { p[v] = p[v] * x[v] + c4_; });
    each<kCount>([&](int v) { p[v] = p[v] * x[v] + c3_; });
    each<kCount>([&](int v) { p[v] = p[v] * x[v] + c2_; });
    each<kCount>([&](int v) { p[v] = p[v] * x[v] + one_; });
    each<kCount>([&](int v) { p[v] = p[v] * x[v] + one_; });
    each<kCount>([&](int v) { x[v] = (Floats)((Bits)p[v] + ((Bits)rounded[v] << 23)); });
  }

 private:
  template <int kCount, class Step>
  static void each(const Step& step) {
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) step(v);
  }
  static Floats kept(float x) {
    Floats all = Floats{} + x;
    asm("" : "+v"(all));
    return all;
  }

  Floats least_ = kept(-87.0f);
  Floats per_log2_ = kept(1.44269504088896341f), log2_ = kept(0.693147180559945309f);
  Floats round_ = kept(12582912.0f);  // as in exp_of
  // exp(r) = 1 + r + r^2 (c2 + c3 r + ...), with the least greatest relative error, 3e-9, for |r|
  // of at most log(2) / 2.
  Floats c2_ = kept(0.49999994f), c3_ = kept(0.16666521f), c4_ = kept(0.04166839f);
  Floats c5_ = kept(0.008368745f), c6_ = kept(0.0013814539f), one_ = kept(1.0f);
};

#endif
