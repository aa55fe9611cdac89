/*
 * ---- Layers of networks but for products and attention, whose loops are those of the machine:
 * rows side by side.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/portable/math.h"

#ifndef KDGAT_SQRTF
#define KDGAT_SQRTF(x) __builtin_sqrtf(x) /* an exported model has its own */
#endif

#define KDGAT_CLIP 10.0f     /* deviations: no standardised feature is farther from its mean */
#define KDGAT_NORM_EPS 1e-5f /* of torch::nn::BatchNorm1d, and of norms over a graph */

static inline float kdgat_z_score(float x, float mean, float scale) {
  const float z = (x - mean) * scale;
  return z < -KDGAT_CLIP ? -KDGAT_CLIP : z > KDGAT_CLIP ? KDGAT_CLIP : z;
}

static inline void kdgat_relu(float* x, ptrdiff_t count) {
  ptrdiff_t i;
  for (i = 0; i < count; ++i) x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

/* x [rows, columns] * gain + shift by column, then ReLU, in place. */
static inline void kdgat_scale_relu(float* x, ptrdiff_t rows, ptrdiff_t columns, const float* gain,
                                    const float* shift) {
  ptrdiff_t r, c;
  for (r = 0; r < rows; ++r, x += columns) {
    for (c = 0; c < columns; ++c) {
      const float value = x[c] * gain[c] + shift[c];
      x[c] = value > 0.0f ? value : 0.0f;
    }
  }
}

/* A norm as gain and shift of a column, of its mean and variance. */
static inline void kdgat_settle_norm(float weight, float bias, float mean, float variance,
                                     float* gain, float* shift) {
  *gain = weight / KDGAT_SQRTF(variance + KDGAT_NORM_EPS);
  *shift = bias - mean * *gain;
}

/* out [nodes, columns]: `own` times the state of a node and those of its neighbours, whose edges to
 * it are in_source[in_ptr[n]] to in_source[in_ptr[n + 1] - 1]; without the edge from itself. */
static inline void kdgat_neighbour_sums(const float* x, const int32_t* in_ptr,
                                        const int32_t* in_source, ptrdiff_t nodes,
                                        ptrdiff_t columns, float own, float* out) {
  ptrdiff_t n, e, c;
  for (n = 0; n < nodes; ++n) {
    float* to = out + n * columns;
    const float* at = x + n * columns;
    for (c = 0; c < columns; ++c) to[c] = 0.0f;
    for (e = in_ptr[n]; e < in_ptr[n + 1]; ++e) {
      const float* from = x + in_source[e] * columns;
      if (in_source[e] == n) continue;
      for (c = 0; c < columns; ++c) to[c] += from[c];
    }
    for (c = 0; c < columns; ++c) to[c] += own * at[c];
  }
}

/* Over the rows of [rows, columns], none of which is negative; 0 where there is none. */
static inline void kdgat_pool_max(const float* x, ptrdiff_t rows, ptrdiff_t columns, float* out) {
  ptrdiff_t r, c;
  for (c = 0; c < columns; ++c) out[c] = 0.0f;
  for (r = 0; r < rows; ++r) {
    for (c = 0; c < columns; ++c) {
      const float value = x[r * columns + c];
      out[c] = out[c] < value ? value : out[c];
    }
  }
}

static inline void kdgat_pool_sum(const float* x, ptrdiff_t rows, ptrdiff_t columns, float* out) {
  ptrdiff_t r, c;
  for (c = 0; c < columns; ++c) out[c] = 0.0f;
  for (r = 0; r < rows; ++r) {
    for (c = 0; c < columns; ++c) out[c] += x[r * columns + c];
  }
}

/* One step of an LSTM for one node: the gates of its input and of its state, in the order i f g
 * o, each [units]. said: the state once more. */
static inline void kdgat_lstm_step(const float* a, const float* b, ptrdiff_t units, float* cell,
                                   float* state, float* said) {
  ptrdiff_t u;
  for (u = 0; u < units; ++u) {
    const float i = a[u] + b[u], f = a[units + u] + b[units + u];
    const float g = a[2 * units + u] + b[2 * units + u], o = a[3 * units + u] + b[3 * units + u];
    cell[u] = kdgat_sigmoid(f) * cell[u] + kdgat_sigmoid(i) * kdgat_tanh(g);
    state[u] = said[u] = kdgat_sigmoid(o) * kdgat_tanh(cell[u]);
  }
}

/* The softmax of the scores of `layers` layers, which lie `stride` apart, in their place. */
static inline void kdgat_softmax(float* scores, ptrdiff_t layers, ptrdiff_t stride) {
  float top = scores[0], sum = 0.0f;
  ptrdiff_t l;
  for (l = 1; l < layers; ++l) top = top < scores[l * stride] ? scores[l * stride] : top;
  for (l = 0; l < layers; ++l) {
    scores[l * stride] = kdgat_expf(scores[l * stride] - top);
    sum += scores[l * stride];
  }
  for (l = 0; l < layers; ++l) scores[l * stride] /= sum;
}

/* The mean squared error of what an autoencoder gave for a node: sigmoids of `raw`, [features]. */
static inline float kdgat_node_error(const float* raw, const float* wanted, ptrdiff_t features) {
  float sum = 0.0f;
  ptrdiff_t f;
  for (f = 0; f < features; ++f) {
    const float off = kdgat_sigmoid(raw[f]) - wanted[f];
    sum += off * off;
  }
  return sum / (float)features;
}
