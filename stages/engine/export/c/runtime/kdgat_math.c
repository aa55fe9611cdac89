/*
 * ---- Numbers. Own functions, so that host and target agree to the last bit: no libm. Each is an order of IEEE
 * operations that a compiler may not change; on a target with fused multiply-add compile with -ffp-contract=off.
 */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "float is computed with more digits than it has (x87?): compile with -mfpmath=sse -msse2"
#endif
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: it changes the order of operations"
#endif

#if KDGAT_NEEDS_EXPF
/* exp to 2 units in the last place (Cephes expf), from -87 to 88. */
static inline float kdgat_expf(float x) {
  union {
    float f;
    uint32_t u;
  } rounded, power;
  float k, r, p;
  x = x > 88.0f ? 88.0f : x;
  x = x < -87.0f ? -87.0f : x;
  rounded.f = x * 1.44269504088896341f + 12582912.0f; /* its low bits are the nearest integer */
  k = rounded.f - 12582912.0f;
  r = (x - k * 0.693359375f) - k * -2.12194440e-4f;
  p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  power.u = (rounded.u << 23) + 0x3F800000u;
  return p * power.f;
}
#endif

#if KDGAT_NEEDS_LOGF
/* log of a positive number to 2 units in the last place (Cephes logf). */
static float kdgat_logf(float x) {
  union {
    float f;
    uint32_t u;
  } bits, mantissa;
  uint32_t shifted;
  float k, m, q, p;
  bits.f = x;
  shifted = bits.u - 0x3F3504F3u; /* sqrt(1/2): x = 2^k * m with m in [0.707, 1.414) */
  /* The shift of a negative number, in words that C defines. */
  k = (float)((shifted & 0x80000000u) != 0 ? -(int32_t)((~shifted) >> 23) - 1
                                           : (int32_t)(shifted >> 23));
  mantissa.u = (shifted & 0x007FFFFFu) + 0x3F3504F3u;
  m = mantissa.f - 1.0f;
  q = m * m;
  p = 7.0376836292e-2f;
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
#endif

#if KDGAT_NEEDS_EXP
/* exp of a double to about a unit in the last place, from -700 to 700: a series behind a power of two. */
static double kdgat_exp(double x) {
  union {
    double f;
    uint64_t u;
  } rounded, power;
  double k, r, p;
  x = x > 700.0 ? 700.0 : x;
  x = x < -700.0 ? -700.0 : x;
  rounded.f = x * 1.4426950408889634 + 6755399441055744.0; /* 1.5 * 2^52 */
  k = rounded.f - 6755399441055744.0;
  r = (x - k * 0.69314718036912382) - k * 1.9082149292705877e-10;
  p = 1.6059043836821613e-10; /* 1 / 13! */
  p = p * r + 2.0876756987868099e-9;
  p = p * r + 2.5052108385441719e-8;
  p = p * r + 2.7557319223985891e-7;
  p = p * r + 2.7557319223985893e-6;
  p = p * r + 2.4801587301587302e-5;
  p = p * r + 1.9841269841269841e-4;
  p = p * r + 1.3888888888888889e-3;
  p = p * r + 8.3333333333333333e-3;
  p = p * r + 4.1666666666666667e-2;
  p = p * r + 1.6666666666666667e-1;
  p = p * r + 0.5;
  p = p * r * r + r + 1.0;
  power.u = (rounded.u << 52) + 0x3FF0000000000000u;
  return p * power.f;
}
#endif

#if KDGAT_NEEDS_SQRTF
/* sqrt of a positive normal number, rounded as IEEE wants it: one digit of two bits after another. */
static float kdgat_sqrtf(float x) {
  union {
    float f;
    uint32_t u;
  } bits;
  uint32_t rest = 0, root = 0;
  int32_t exponent;
  int i;
  bits.f = x;
  if (!(x > 0.0f) || bits.u >= 0x7F800000u) return x; /* 0, infinity, no number */
  exponent = (int32_t)(bits.u >> 23) - 127;
  bits.u = (bits.u & 0x007FFFFFu) | 0x00800000u;
  if ((exponent & 1) != 0) {
    bits.u <<= 1;
    --exponent;
  }
  /* The 25 bits of sqrt(m * 2^25), m in [2^23, 2^25): 24 of the result and one to round by. */
  bits.u <<= 7; /* its 50 bits are those of m and 25 noughts; taken from the top, two at a time */
  for (i = 0; i < 25; ++i) {
    rest = (rest << 2) | (bits.u >> 30);
    bits.u <<= 2;
    root <<= 1;
    if (rest > (root << 1)) {
      rest -= (root << 1) | 1u;
      root |= 1u;
    }
  }
  root = (root >> 1) + (root & 1u); /* never a tie: a root of 25 bits has a square of 49 */
  bits.u = root - 0x00800000u + ((uint32_t)(exponent / 2 + 127) << 23);
  return bits.f;
}
#endif

#if KDGAT_NEEDS_SQRT
/* The same of a double. */
static double kdgat_sqrt(double x) {
  union {
    double f;
    uint64_t u;
  } bits;
  uint64_t rest = 0, root = 0;
  int32_t exponent;
  int i;
  bits.f = x;
  if (!(x > 0.0) || bits.u >= 0x7FF0000000000000u) return x;
  exponent = (int32_t)(bits.u >> 52) - 1023;
  bits.u = (bits.u & 0x000FFFFFFFFFFFFFu) | 0x0010000000000000u;
  if ((exponent & 1) != 0) {
    bits.u <<= 1;
    --exponent;
  }
  bits.u <<= 10;
  for (i = 0; i < 54; ++i) {
    rest = (rest << 2) | (bits.u >> 62);
    bits.u <<= 2;
    root <<= 1;
    if (rest > (root << 1)) {
      rest -= (root << 1) | 1u;
      root |= 1u;
    }
  }
  root = (root >> 1) + (root & 1u);
  bits.u = root - 0x0010000000000000u + ((uint64_t)(exponent / 2 + 1023) << 52);
  return bits.f;
}
#endif
