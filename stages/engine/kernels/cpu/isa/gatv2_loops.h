// Attention of the second kind over incoming edges with features; included by tables.cpp
// alone, inside the namespace of its instruction set. One target at a time: the sums of source,
// target and edge are made again where they are needed, in one row of memory, never stored by edge.

/// sum = l + r + a^T lin_edge for one edge, [heads*channels].
template <class T>
inline void gatv2_sum(const Gatv2Args<T>& f, const T* __restrict l, const T* __restrict r,
                      const T* __restrict a, T* __restrict sum) {
  const int64_t width = f.heads * f.channels;
#pragma omp simd
  for (int64_t c = 0; c < width; ++c) sum[c] = l[c] + r[c];
  int64_t d = 0;
  for (; d + 4 <= f.features; d += 4) {
    const T* __restrict w = f.lin_edge + d * width;
    const T a0 = a[d], a1 = a[d + 1], a2 = a[d + 2], a3 = a[d + 3];
#pragma omp simd
    for (int64_t c = 0; c < width; ++c) {
      sum[c] += a0 * w[c] + a1 * w[width + c] + a2 * w[2 * width + c] + a3 * w[3 * width + c];
    }
  }
  for (; d < f.features; ++d) add_scaled(sum, f.lin_edge + d * width, a[d], width);
}

/// Features of node i's own loop: the mean over its incoming edges from other nodes.
template <class T>
inline void gatv2_loop_features(const Gatv2Args<T>& f, int64_t i, T* mean) {
  for (int64_t d = 0; d < f.features; ++d) mean[d] = 0;
  int64_t count = 0;
  for (int64_t e = f.in_ptr[i]; e < f.in_ptr[i + 1]; ++e) {
    if (f.in_source[e] == i) continue;
    const T* a = f.edge_attr + e * f.features;
    for (int64_t d = 0; d < f.features; ++d) mean[d] += a[d];
    ++count;
  }
  const T inverse = count > 0 ? 1 / static_cast<T>(count) : T(0);
  for (int64_t d = 0; d < f.features; ++d) mean[d] *= inverse;
}

/// Calls visit(source, features, weights of the heads) for each edge into i but those from i
/// itself, then for its own loop.
template <class T, class Visit>
inline void gatv2_edges(const Gatv2Args<T>& f, int64_t i, const T* loop, const Visit& visit) {
  for (int64_t e = f.in_ptr[i]; e < f.in_ptr[i + 1]; ++e) {
    if (f.in_source[e] == i) continue;
    visit(static_cast<int64_t>(f.in_source[e]), f.edge_attr + e * f.features,
          f.alpha + e * f.heads);
  }
  visit(i, loop, f.alpha + (f.edges + i) * f.heads);
}

template <class T>
void gatv2_forward(const Gatv2Args<T>& f, int64_t begin, int64_t end, T* row) {
  const int64_t heads = f.heads, channels = f.channels, width = heads * channels;
  T* loop = row + width;
  T top[kMaxHeads], sum[kMaxHeads];
  for (int64_t i = begin; i < end; ++i) {
    gatv2_loop_features(f, i, loop);
    for (int64_t k = 0; k < heads; ++k) {
      top[k] = -1e30f;
      sum[k] = 0;
    }
    gatv2_edges(f, i, loop, [&](int64_t j, const T* a, T* score) {
      gatv2_sum(f, f.l + j * width, f.r + i * width, a, row);
      for (int64_t k = 0; k < heads; ++k) {
        const T* s = row + k * channels;
        const T* att = f.att + k * channels;
        const T total = dot_of<true>(s, att, channels, f.slope);
        score[k] = total;
        top[k] = total > top[k] ? total : top[k];
      }
    });
    gatv2_edges(f, i, loop, [&](int64_t, const T*, T* weight) {
      for (int64_t k = 0; k < heads; ++k) {
        weight[k] = exp_of(weight[k] - top[k]);
        sum[k] += weight[k];
      }
    });
    for (int64_t k = 0; k < heads; ++k) sum[k] = 1 / sum[k];
    T* out = f.out + i * width;
    for (int64_t c = 0; c < width; ++c) out[c] = f.bias[c];
    gatv2_edges(f, i, loop, [&](int64_t j, const T*, T* weight) {
      for (int64_t k = 0; k < heads; ++k) {
        weight[k] *= sum[k];
        add_scaled(out + k * channels, f.l + j * width + k * channels, weight[k], channels);
      }
    });
  }
}

/// grad_lin_edge += a d^T.
template <class T>
inline void gatv2_outer(const T* __restrict a, const T* __restrict d, int64_t features,
                        int64_t width, T* __restrict grad_lin_edge) {
  for (int64_t k = 0; k < features; ++k) add_scaled(grad_lin_edge + k * width, d, a[k], width);
}

template <class T>
void gatv2_backward(const Gatv2GradArgs<T>& g, int64_t begin, int64_t end, T* row, T* partial) {
  const Gatv2Args<T>& f = g.forward;
  const int64_t heads = f.heads, channels = f.channels, width = heads * channels;
  T* loop = row + width;
  T mean[kMaxHeads];
  T* grad_att = partial;
  T* grad_bias = partial + width;
  T* grad_lin_edge = partial + 2 * width;
  for (int64_t c = 0; c < (2 + f.features) * width; ++c) partial[c] = 0;
  for (int64_t c = begin * width; c < end * width; ++c) g.grad_l[c] = g.grad_r[c] = 0;
  for (int64_t i = begin; i < end; ++i) {
    const T* grad = g.grad_out + i * width;
    const T* out = f.out + i * width;
    T* grad_r = g.grad_r + i * width;
    gatv2_loop_features(f, i, loop);
    // sum_j alpha_j <grad, l_j> = <grad, out - bias>
    for (int64_t k = 0; k < heads; ++k) {
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t c = k * channels; c < (k + 1) * channels; ++c) {
        sum += grad[c] * (out[c] - f.bias[c]);
      }
      mean[k] = sum;
    }
    add_scaled(grad_bias, grad, T(1), width);
    gatv2_edges(f, i, loop, [&](int64_t j, const T* a, const T* alpha) {
      gatv2_sum(f, f.l + j * width, f.r + i * width, a, row);
      for (int64_t k = 0; k < heads; ++k) {
        const int64_t at = k * channels;
        const T* __restrict l = f.l + j * width + at;
        const T* __restrict grad_head = grad + at;
        T cosine = 0;
#pragma omp simd reduction(+ : cosine)
        for (int64_t c = 0; c < channels; ++c) cosine += grad_head[c] * l[c];
        const T change = alpha[k] * (cosine - mean[k]);
        T* __restrict s = row + at;
        T* __restrict grad_l = g.grad_l + j * width + at;
        T* __restrict to = grad_r + at;
        T* __restrict of_att = grad_att + at;
        const T* __restrict att = f.att + at;
        const T weight = alpha[k], slope = f.slope;
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c) {
          const T factor = s[c] > 0 ? T(1) : slope;
          of_att[c] += change * s[c] * factor;
          const T d = change * att[c] * factor;
          grad_l[c] += weight * grad_head[c] + d;
          to[c] += d;
          s[c] = d;
        }
      }
      gatv2_outer(a, row, f.features, width, grad_lin_edge);
    });
  }
}
