/* ---- Roots without libm. */
#define KDGAT_SQRTF(x) kdgat_sqrtf(x)
#define KDGAT_SQRT(x) kdgat_sqrt(x)

/* sqrt of a positive normal number, rounded as IEEE wants it: one digit of two bits after
 * another. */
static inline float kdgat_sqrtf(float x) {
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

/* The same of a double. */
static inline double kdgat_sqrt(double x) {
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
