/*
 * ---- Numbers. No libm: host and target agree to the last bit. The first argument is returned
 * where two are equal, or one is no number.
 */
#pragma once

#include <stdint.h>

#define KDGAT_LOG_10 2.302585092994046 /* log-odds of a power of ten */

static inline float kdgat_min(float a, float b) { return b < a ? b : a; }
static inline float kdgat_max(float a, float b) { return a < b ? b : a; }
static inline float kdgat_clamp(float v, float low, float high) {
  return v < low ? low : high < v ? high : v;
}
static inline float kdgat_part(float v) { return kdgat_clamp(v, 0.0f, 1.0f); }
static inline double kdgat_abs(double v) { return v > 0.0 ? v : 0.0 - v; }

static inline double kdgat_no_time(void) {
  union {
    uint64_t bits;
    double value;
  } out;
  out.bits = 0x7FF8000000000000u; /* NaN */
  return out.value;
}
/* False for NaN and infinity. */
static inline int kdgat_is_time(double time) { return time - time == 0.0; }

/* To the nearest whole number, halves away from zero. Exact: from 2^52 on all doubles are whole. */
static inline double kdgat_round(double v) {
  double whole, rest;
  if (!(v > -4503599627370496.0 && v < 4503599627370496.0)) return v;
  whole = (double)(int64_t)v;
  rest = v - whole;
  if (rest >= 0.5) return whole + 1.0;
  if (rest <= -0.5) return whole - 1.0;
  return whole;
}
