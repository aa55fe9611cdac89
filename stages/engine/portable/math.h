/*
 * ---- Functions of numbers. Own ones, so that host and target agree to the last bit: no libm.
 * Each is an order of IEEE operations that a compiler may not change; on a target with fused
 * multiply-add compile with -ffp-contract=off.
 */
#pragma once

#include <stdint.h>

/* exp to 2 units in the last place (Cephes expf), from -87 to 88; without branches, so that
 * loops vectorise. */
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

/* exp of a double to about a unit in the last place, from -700 to 700: a series behind a power
 * of two. */
static inline double kdgat_exp(double x) {
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

/* From -87 to 88 to a few units in the last place. */
static inline float kdgat_sigmoid(float x) { return 1.0f / (1.0f + kdgat_expf(-x)); }
/* To 2^-22, absolutely. */
static inline float kdgat_tanh(float x) { return 2.0f * kdgat_sigmoid(2.0f * x) - 1.0f; }
/* 1 / (1 + exp(-x)) to the last places of a double. */
static inline double kdgat_probability(double log_odds) {
  return 1.0 / (1.0 + kdgat_exp(-log_odds));
}
