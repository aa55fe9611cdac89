/*
 * ---- The network's layers.
 *
 * The order of operations is that of the native engine's portable level, so its bits are the same: a product starts at
 * its bias and adds one input after another; kdgat_dot() adds as its comment says. Four floats are handled at once
 * where the compiler has vectors, which changes no order.
 */
#define KDGAT_TILE 8 /* columns of a product that are summed at once */

/* Columns [0, 8) of out = x w + bias, for rows of x and out that stand `inputs` and `columns` apart. */
static void kdgat_tile(const float* x, int rows, int inputs, const float* w, int stride,
                       const float* bias, float* out, int columns) {
  int r = 0, k;
#if KDGAT_VECTORS
  const kdgat_v4 none = {0, 0, 0, 0};
  const kdgat_v4 b0 = bias ? KDGAT_CV4(bias) : none, b1 = bias ? KDGAT_CV4(bias + 4) : none;
  for (; r + 4 <= rows; r += 4, x += 4 * inputs, out += 4 * columns) {
    const float *x0 = x, *x1 = x + inputs, *x2 = x + 2 * inputs, *x3 = x + 3 * inputs;
    const float* at = w;
    kdgat_v4 s00 = b0, s01 = b1, s10 = b0, s11 = b1, s20 = b0, s21 = b1, s30 = b0, s31 = b1;
    for (k = 0; k < inputs; ++k, at += stride) {
      const kdgat_v4 w0 = KDGAT_CV4(at), w1 = KDGAT_CV4(at + 4);
      s00 += w0 * x0[k];
      s01 += w1 * x0[k];
      s10 += w0 * x1[k];
      s11 += w1 * x1[k];
      s20 += w0 * x2[k];
      s21 += w1 * x2[k];
      s30 += w0 * x3[k];
      s31 += w1 * x3[k];
    }
    KDGAT_V4(out) = s00;
    KDGAT_V4(out + 4) = s01;
    KDGAT_V4(out + columns) = s10;
    KDGAT_V4(out + columns + 4) = s11;
    KDGAT_V4(out + 2 * columns) = s20;
    KDGAT_V4(out + 2 * columns + 4) = s21;
    KDGAT_V4(out + 3 * columns) = s30;
    KDGAT_V4(out + 3 * columns + 4) = s31;
  }
  for (; r < rows; ++r, x += inputs, out += columns) {
    const float* at = w;
    kdgat_v4 s0 = b0, s1 = b1;
    for (k = 0; k < inputs; ++k, at += stride) {
      s0 += KDGAT_CV4(at) * x[k];
      s1 += KDGAT_CV4(at + 4) * x[k];
    }
    KDGAT_V4(out) = s0;
    KDGAT_V4(out + 4) = s1;
  }
#else
  for (; r < rows; ++r, x += inputs, out += columns) {
    float s[KDGAT_TILE];
    const float* at = w;
    int c;
    for (c = 0; c < KDGAT_TILE; ++c) s[c] = bias ? bias[c] : 0.0f;
    for (k = 0; k < inputs; ++k, at += stride) {
      for (c = 0; c < KDGAT_TILE; ++c) s[c] += at[c] * x[k];
    }
    for (c = 0; c < KDGAT_TILE; ++c) out[c] = s[c];
  }
#endif
}

/* The same of `count` columns, 8 of them at most; few fill no tile. */
static void kdgat_columns(const float* x, int rows, int inputs, const float* w, int stride,
                          const float* bias, float* out, int columns, int count) {
  int r, c, k;
  if (count >= KDGAT_TILE) {
    kdgat_tile(x, rows, inputs, w, stride, bias, out, columns);
    return;
  }
  for (r = 0; r < rows; ++r, x += inputs, out += columns) {
    for (c = 0; c < count; ++c) {
      const float* at = w + c;
      float sum = bias ? bias[c] : 0.0f;
      for (k = 0; k < inputs; ++k, at += stride) sum += *at * x[k];
      out[c] = sum;
    }
  }
}

#if !KDGAT_INT8
/* out [rows, outputs] = x [rows, inputs] through the layer. */
static void kdgat_linear(kdgat_state* s, const kdgat_layer* layer, const float* x, int rows,
                         float* out) {
  const int inputs = layer->inputs, outputs = layer->outputs;
  const float* bias = layer->bias;
  int c = 0;
  (void)s;
#if KDGAT_VECTORS
  /* Of one row more columns at once, as an addition waits for the one before it. */
  for (; rows == 1 && c + 32 <= outputs; c += 32) {
    const float* w = layer->weight + c;
    kdgat_v4 sum[8];
    int k, v;
    for (v = 0; v < 8; ++v) {
      const kdgat_v4 none = {0, 0, 0, 0};
      sum[v] = bias ? KDGAT_CV4(bias + c + 4 * v) : none;
    }
    for (k = 0; k < inputs; ++k, w += outputs) {
      const float one = x[k];
      sum[0] += KDGAT_CV4(w) * one;
      sum[1] += KDGAT_CV4(w + 4) * one;
      sum[2] += KDGAT_CV4(w + 8) * one;
      sum[3] += KDGAT_CV4(w + 12) * one;
      sum[4] += KDGAT_CV4(w + 16) * one;
      sum[5] += KDGAT_CV4(w + 20) * one;
      sum[6] += KDGAT_CV4(w + 24) * one;
      sum[7] += KDGAT_CV4(w + 28) * one;
    }
    for (v = 0; v < 8; ++v) KDGAT_V4(out + c + 4 * v) = sum[v];
  }
#endif
  for (; c < outputs; c += KDGAT_TILE) {
    kdgat_columns(x, rows, inputs, layer->weight + c, outputs, bias ? bias + c : bias, out + c,
                  outputs, outputs - c);
  }
}
#else
/* The same with weights of one byte, each times the scale of its output; s->panel holds 8 columns of them. */
static void kdgat_linear(kdgat_state* s, const kdgat_layer* layer, const float* x, int rows,
                         float* out) {
  const int inputs = layer->inputs, outputs = layer->outputs;
  const float* bias = layer->bias;
  int c, k, j;
  for (c = 0; c < outputs; c += KDGAT_TILE) {
    const int count = outputs - c < KDGAT_TILE ? outputs - c : KDGAT_TILE;
    const int8_t* w = layer->weight + c;
    float* panel = s->panel;
    for (k = 0; k < inputs; ++k, w += outputs, panel += KDGAT_TILE) {
      for (j = 0; j < count; ++j) panel[j] = (float)w[j] * layer->scale[c + j];
    }
    kdgat_columns(x, rows, inputs, s->panel, KDGAT_TILE, bias ? bias + c : bias, out + c, outputs,
                  count);
  }
}
#endif

static float kdgat_leaky(float x) { return x > 0.0f ? x : x * 0.2f; }

/* to += factor * from */
static void kdgat_add_scaled(float* to, const float* from, float factor, int count) {
  int i;
#if KDGAT_VECTORS
  const int left = count % 4, whole = count - left;
  for (i = 0; i < whole; i += 4) KDGAT_V4(to + i) += KDGAT_CV4(from + i) * factor;
  to += whole;
  from += whole;
  count = left;
#endif
  for (i = 0; i < count; ++i) to[i] += factor * from[i];
}

#if KDGAT_ATTENTION == 2
#define KDGAT_THROUGH(x) kdgat_leaky(x)
#else
#define KDGAT_THROUGH(x) (x)
#endif

/*
 * The sum of a[i] * b[i], of a[i] through the leaky ReLU where KDGAT_ATTENTION is 2: four sums of every fourth product,
 * added as (0 + 2) + (1 + 3), then the last products that fill no four, one by one.
 */
static float kdgat_dot(const float* a, const float* b, int count) {
  const int left = count % 4, whole = count - left;
  float sum, s[4] = {0, 0, 0, 0};
  int i, lane;
  for (i = 0; i < whole; i += 4) {
    for (lane = 0; lane < 4; ++lane) {
      s[lane] += KDGAT_THROUGH(a[i + lane]) * b[i + lane];
    }
  }
  s[0] += s[2];
  s[1] += s[3];
  sum = s[0] + s[1];
  a += whole;
  b += whole;
  for (i = 0; i < left; ++i) sum += KDGAT_THROUGH(a[i]) * b[i];
  return sum;
}

/* x[i] = exp(x[i]); x has room for a multiple of four. */
static void kdgat_exp_all(float* x, int count) {
#if KDGAT_VECTORS
  /* kdgat_expf(), four at once. */
  int i;
  for (i = 0; i < count; i += 4) {
    const kdgat_v4 most = {88.0f, 88.0f, 88.0f, 88.0f}, least = {-87.0f, -87.0f, -87.0f, -87.0f};
    kdgat_v4 v = KDGAT_CV4(x + i), rounded, k, r, p;
    kdgat_u4 mask = (kdgat_u4)(v > most);
    v = (kdgat_v4)(((kdgat_u4)v & ~mask) | ((kdgat_u4)most & mask));
    mask = (kdgat_u4)(v < least);
    v = (kdgat_v4)(((kdgat_u4)v & ~mask) | ((kdgat_u4)least & mask));
    rounded = v * 1.44269504088896341f + 12582912.0f;
    k = rounded - 12582912.0f;
    r = (v - k * 0.693359375f) - k * -2.12194440e-4f;
    p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    mask = ((kdgat_u4)rounded << 23) + 0x3F800000u;
    KDGAT_V4(x + i) = p * (kdgat_v4)mask;
  }
#else
  int i;
  for (i = 0; i < count; ++i) x[i] = kdgat_expf(x[i]);
#endif
}

#if KDGAT_ATTENTION == 1
/*
 * Attention over incoming edges and the node itself: h [nodes, heads * channels] to out likewise. Edges are taken a few
 * at a time, so that their weights need little room; sums run on from one lot to the next.
 */
static void kdgat_attention(kdgat_state* s, const float* h, const float* att_source,
                            const float* att_target, const float* bias, int heads, int channels,
                            float* out) {
  const int width = heads * channels;
  float weight[KDGAT_LOT * KDGAT_HEADS + 3], top[KDGAT_HEADS], sum[KDGAT_HEADS];
  int i, k, c;
  for (i = 0; i < s->nodes; ++i) {
    for (k = 0; k < heads; ++k) {
      const float* row = h + i * width + k * channels;
      s->as_source[i * heads + k] = kdgat_dot(row, att_source + k * channels, channels);
      s->as_target[i * heads + k] = kdgat_dot(row, att_target + k * channels, channels);
    }
  }
  for (i = 0; i < s->nodes; ++i, out += width) {
    const float* target = s->as_target + i * heads;
    const int last = s->in_begin[i + 1];
    int e, is_first = 1;
    for (k = 0; k < heads; ++k) {
      top[k] = kdgat_leaky(s->as_source[i * heads + k] + target[k]);
      sum[k] = 0.0f;
    }
    for (e = s->in_begin[i]; e < last; ++e) {
      const float* source = s->as_source + s->in_source[e] * heads;
      for (k = 0; k < heads; ++k) {
        const float score = kdgat_leaky(source[k] + target[k]);
        top[k] = score > top[k] ? score : top[k];
      }
    }
    for (c = 0; c < width; ++c) out[c] = 0.0f;
    for (e = s->in_begin[i]; is_first || e < last;) {
      uint16_t from[KDGAT_LOT];
      int count = 0, j;
      if (is_first) from[count++] = (uint16_t)i; /* the node itself comes first */
      is_first = 0;
      for (; e < last && count < KDGAT_LOT; ++e) {
        if (s->in_source[e] != i) from[count++] = s->in_source[e];
      }
      for (j = 0; j < count; ++j) {
        const float* source = s->as_source + from[j] * heads;
        for (k = 0; k < heads; ++k) {
          weight[j * heads + k] = kdgat_leaky(source[k] + target[k]) - top[k];
        }
      }
      for (k = 0; k < 3; ++k) weight[count * heads + k] = 0.0f; /* read, and of no effect */
      kdgat_exp_all(weight, count * heads);
      for (j = 0; j < count; ++j) {
        const float* row = h + from[j] * width;
        for (k = 0; k < heads; ++k) {
          sum[k] += weight[j * heads + k];
          kdgat_add_scaled(out + k * channels, row + k * channels, weight[j * heads + k], channels);
        }
      }
    }
    for (k = 0; k < heads; ++k) {
      const float inverse = 1.0f / sum[k];
      for (c = k * channels; c < (k + 1) * channels; ++c) out[c] = out[c] * inverse + bias[c];
    }
  }
}
#endif

#if KDGAT_ATTENTION == 2
/* l + r + the features of an edge through lin_edge [features, width], to s->sum. */
static void kdgat_edge_sum(kdgat_state* s, const float* l, const float* r, const float* features,
                           const float* lin_edge, int width) {
  float* sum = s->sum;
  int c, d;
  for (c = 0; c < width; ++c) sum[c] = l[c] + r[c];
  for (d = 0; d + 4 <= KDGAT_EDGE_FEATURES; d += 4) {
    const float *w0 = lin_edge + d * width, *w1 = w0 + width, *w2 = w1 + width, *w3 = w2 + width;
    const float a0 = features[d], a1 = features[d + 1], a2 = features[d + 2], a3 = features[d + 3];
#if KDGAT_VECTORS
    for (c = 0; c < width - width % 4; c += 4) {
      KDGAT_V4(sum + c) += KDGAT_CV4(w0 + c) * a0 + KDGAT_CV4(w1 + c) * a1 +
                           KDGAT_CV4(w2 + c) * a2 + KDGAT_CV4(w3 + c) * a3;
    }
    for (c = width - width % 4; c < width; ++c) {
#else
    for (c = 0; c < width; ++c) {
#endif
      sum[c] += a0 * w0[c] + a1 * w1[c] + a2 * w2[c] + a3 * w3[c];
    }
  }
  for (; d < KDGAT_EDGE_FEATURES; ++d) {
    kdgat_add_scaled(sum, lin_edge + d * width, features[d], width);
  }
}

/* Attention of the second kind: l and r [nodes, heads * channels] are the nodes as sources and as targets. */
static void kdgat_attention(kdgat_state* s, const float* l, const float* r, const float* lin_edge,
                            const float* att, const float* bias, int heads, int channels,
                            float* out) {
  const int width = heads * channels;
  float loop[KDGAT_EDGE_FEATURES], top[KDGAT_HEADS], sum[KDGAT_HEADS];
  int i, k, c, d, e, count;
  for (i = 0; i < s->nodes; ++i, out += width) {
    const int first = s->in_begin[i], last = s->in_begin[i + 1];
    float inverse;
    /* The node's own edge has the mean features of those from others; it comes last. */
    for (d = 0; d < KDGAT_EDGE_FEATURES; ++d) loop[d] = 0.0f;
    count = 0;
    for (e = first; e < last; ++e) {
      if (s->in_source[e] == i) continue;
      for (d = 0; d < KDGAT_EDGE_FEATURES; ++d) loop[d] += s->edges[e][d];
      ++count;
    }
    inverse = count > 0 ? 1.0f / (float)count : 0.0f;
    for (d = 0; d < KDGAT_EDGE_FEATURES; ++d) loop[d] *= inverse;
    for (k = 0; k < heads; ++k) {
      top[k] = -1e30f;
      sum[k] = 0.0f;
    }
    count = 0;
    for (e = first; e <= last; ++e) {
      const int from = e < last ? s->in_source[e] : i;
      if (e < last && from == i) continue;
      kdgat_edge_sum(s, l + from * width, r + i * width, e < last ? s->edges[e] : loop, lin_edge,
                     width);
      for (k = 0; k < heads; ++k) {
        const float score = kdgat_dot(s->sum + k * channels, att + k * channels, channels);
        s->weight[count * heads + k] = score;
        top[k] = score > top[k] ? score : top[k];
      }
      ++count;
    }
    for (c = 0; c < count * heads; c += heads) {
      for (k = 0; k < heads; ++k) s->weight[c + k] -= top[k];
    }
    for (k = 0; k < 3; ++k) s->weight[count * heads + k] = 0.0f; /* read, and of no effect */
    kdgat_exp_all(s->weight, count * heads);
    for (c = 0; c < count * heads; c += heads) {
      for (k = 0; k < heads; ++k) sum[k] += s->weight[c + k];
    }
    for (k = 0; k < heads; ++k) sum[k] = 1.0f / sum[k];
    for (c = 0; c < width; ++c) out[c] = bias[c];
    count = 0;
    for (e = first; e <= last; ++e) {
      const int from = e < last ? s->in_source[e] : i;
      if (e < last && from == i) continue;
      for (k = 0; k < heads; ++k) {
        kdgat_add_scaled(out + k * channels, l + from * width + k * channels,
                         s->weight[count * heads + k] * sum[k], channels);
      }
      ++count;
    }
  }
}
#endif

/* The mean of the rows. */
static inline void kdgat_mean_rows(const float* x, int rows, int columns, float* out) {
  const float factor = 1.0f / (float)rows;
  int r, c;
  for (c = 0; c < columns; ++c) out[c] = 0.0f;
  for (r = 0; r < rows; ++r, x += columns) {
    for (c = 0; c < columns; ++c) out[c] += x[c];
  }
  for (c = 0; c < columns; ++c) out[c] *= factor;
}

#if KDGAT_GRAPH_NORM
/* Normalisation over the graph, then ReLU, in place. */
static void kdgat_graph_norm(kdgat_state* s, float* x, int columns, const float* weight,
                             const float* bias, const float* mean_scale) {
  float *mean = s->columns, *gain = s->columns + KDGAT_COLUMNS, *shift = gain + KDGAT_COLUMNS;
  const float* row = x;
  int r, c;
  kdgat_mean_rows(x, s->nodes, columns, mean);
  for (c = 0; c < columns; ++c) {
    mean[c] *= mean_scale[c];
    gain[c] = 0.0f;
  }
  for (r = 0; r < s->nodes; ++r, row += columns) {
    for (c = 0; c < columns; ++c) {
      const float off = row[c] - mean[c];
      gain[c] += off * off;
    }
  }
  for (c = 0; c < columns; ++c) {
    kdgat_settle_norm(weight[c], bias[c], mean[c], gain[c] / (float)s->nodes, &gain[c], &shift[c]);
  }
  kdgat_scale_relu(x, s->nodes, columns, gain, shift);
}
#endif

#if KDGAT_JUMPING_LSTM
/* The layers of some nodes, forwards or back: what the LSTM says of each goes to said, [rows, 2 units]. */
static void kdgat_lstm_read(kdgat_state* s, const kdgat_layer* in, const kdgat_layer* again,
                            const float* const* states, int rows, int is_reverse) {
  kdgat_lstm* m = &s->u.lstm;
  int step, r, i;
  for (i = 0; i < KDGAT_NODE_TILE * KDGAT_UNITS; ++i) m->state[i] = m->cell[i] = 0.0f;
  for (step = 0; step < KDGAT_LAYERS; ++step) {
    const int layer = is_reverse ? KDGAT_LAYERS - 1 - step : step;
    kdgat_linear(s, in, states[layer], rows, m->gates);
    kdgat_linear(s, again, m->state, rows, m->more);
    for (r = 0; r < rows; ++r) {
      kdgat_lstm_step(m->gates + r * 4 * KDGAT_UNITS, m->more + r * 4 * KDGAT_UNITS, KDGAT_UNITS,
                      m->cell + r * KDGAT_UNITS, m->state + r * KDGAT_UNITS,
                      m->said[layer] + (2 * r + is_reverse) * KDGAT_UNITS);
    }
  }
}

/* The states of the layers of one node, weighted by the softmax of their scores. */
static void kdgat_lstm_join(const float* const* states, int at, const float* scores, int layers,
                            int channels, float* out) {
  float weight[KDGAT_LAYERS];
  int l, c;
  for (l = 0; l < layers; ++l) weight[l] = scores[l];
  kdgat_softmax(weight, layers, 1);
  for (c = 0; c < channels; ++c) out[c] = 0.0f;
  for (l = 0; l < layers; ++l) kdgat_add_scaled(out, states[l] + at, weight[l], channels);
}
#endif

#if KDGAT_RECONSTRUCTS
/* The mean over the nodes of the mean squared error of what the autoencoder said of their features. */
static float kdgat_error(const kdgat_state* s, const float* said) {
  float all = 0.0f;
  int n;
  for (n = 0; n < s->nodes; ++n, said += KDGAT_NODE_FEATURES) {
    all += kdgat_node_error(said, s->wanted[n], KDGAT_NODE_FEATURES);
  }
  return all * (1.0f / (float)s->nodes);
}
#endif
