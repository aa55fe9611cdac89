// What nodes get by their edges; included by tables.cpp alone, inside the namespace of its
// instruction set. One target at a time: the sum of source, target and edge is made again where it
// is needed.

constexpr double kLeastVariance = 1e-5;  // as in PyTorch Geometric

template <class T>
inline void clear(T* to, int64_t count) {
  for (int64_t c = 0; c < count; ++c) to[c] = 0;
}

/// Calls visit(edge, source) for the edges into i that count.
template <class T, class Visit>
inline void edges_into(const EdgeArgs<T>& a, int64_t i, const Visit& visit) {
  for (int32_t e = a.in_ptr[i]; e < a.in_ptr[i + 1]; ++e) {
    if (a.source[e] != i) visit(static_cast<int64_t>(e), static_cast<int64_t>(a.source[e]));
  }
}

/// Zero of what the targets in [begin, end) and the edges into them get.
template <class T>
inline void clear_gradients(const EdgeGradArgs<T>& g, int64_t begin, int64_t end) {
  const EdgeArgs<T>& a = g.forward;
  for (T* rows : {g.own, g.of_node, g.value}) {
    if (rows != nullptr) clear(rows + begin * a.columns, (end - begin) * a.columns);
  }
  if (g.e != nullptr) {
    clear(g.e + a.in_ptr[begin] * a.columns, (a.in_ptr[end] - a.in_ptr[begin]) * a.columns);
  }
}

template <class T>
void edge_relu_sums(const EdgeArgs<T>& a, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    T* __restrict out = a.out + i * a.columns;
    clear(out, a.columns);
    edges_into(a, i, [&](int64_t edge, int64_t j) {
      const T* __restrict x = a.of_node + j * a.columns;
      const T* __restrict e = a.e + edge * a.columns;
#pragma omp simd
      for (int64_t c = 0; c < a.columns; ++c) {
        const T sum = x[c] + e[c];
        out[c] += sum > 0 ? sum : T(0);
      }
    });
  }
}

template <class T>
void edge_relu_sums_backward(const EdgeGradArgs<T>& g, int64_t begin, int64_t end) {
  const EdgeArgs<T>& a = g.forward;
  clear_gradients(g, begin, end);
  for (int64_t i = begin; i < end; ++i) {
    const T* __restrict grad = g.grad_out + i * a.columns;
    edges_into(a, i, [&](int64_t edge, int64_t j) {
      const T* __restrict x = a.of_node + j * a.columns;
      const T* __restrict e = a.e + edge * a.columns;
      T* __restrict to_x = g.of_node + j * a.columns;
      T* __restrict to_e = g.e + edge * a.columns;
#pragma omp simd
      for (int64_t c = 0; c < a.columns; ++c) {
        const T part = x[c] + e[c] > 0 ? grad[c] : T(0);
        to_e[c] = part;
        to_x[c] += part;
      }
    });
  }
}

/// <a, b + e>; e may be null.
template <class T>
inline T dot_with(const T* a, const T* b, const T* e, int64_t count) {
  using S = Simd<T>;
  typename S::Vector sums = {};
  int64_t c = 0;
  for (; c + S::kLanes <= count; c += S::kLanes) {
    sums += S::at(a + c) * (e == nullptr ? S::at(b + c) : S::at(b + c) + S::at(e + c));
  }
  T out = 0;
  for (int lane = 0; lane < S::kLanes; ++lane) out += sums[lane];
  for (; c < count; ++c) out += a[c] * (e == nullptr ? b[c] : b[c] + e[c]);
  return out;
}

/// out += factor * (b + e).
template <class T>
inline void add_with(T* __restrict out, const T* __restrict b, const T* __restrict e, T factor,
                     int64_t count) {
  if (e == nullptr) {
#pragma omp simd
    for (int64_t c = 0; c < count; ++c) out[c] += factor * b[c];
  } else {
#pragma omp simd
    for (int64_t c = 0; c < count; ++c) out[c] += factor * (b[c] + e[c]);
  }
}

template <class T>
void edge_attention(const EdgeArgs<T>& a, int64_t begin, int64_t end) {
  const int64_t channels = a.columns / a.heads;
  const T scale = 1 / static_cast<T>(__builtin_sqrt(static_cast<double>(channels)));
  T top[kMaxHeads], sum[kMaxHeads];
  for (int64_t i = begin; i < end; ++i) {
    const T* q = a.own + i * a.columns;
    for (int64_t k = 0; k < a.heads; ++k) {
      top[k] = -1e30f;
      sum[k] = 0;
    }
    edges_into(a, i, [&](int64_t edge, int64_t j) {
      for (int64_t k = 0; k < a.heads; ++k) {
        const int64_t at = k * channels;
        const T* e = a.e == nullptr ? nullptr : a.e + edge * a.columns + at;
        const T score = scale * dot_with(q + at, a.of_node + j * a.columns + at, e, channels);
        a.alpha[edge * a.heads + k] = score;
        top[k] = score > top[k] ? score : top[k];
      }
    });
    edges_into(a, i, [&](int64_t edge, int64_t) {
      for (int64_t k = 0; k < a.heads; ++k) {
        T& alpha = a.alpha[edge * a.heads + k];
        alpha = exp_of(alpha - top[k]);
        sum[k] += alpha;
      }
    });
    T* out = a.out + i * a.columns;
    clear(out, a.columns);
    edges_into(a, i, [&](int64_t edge, int64_t j) {
      for (int64_t k = 0; k < a.heads; ++k) {
        const int64_t at = k * channels;
        const T* e = a.e == nullptr ? nullptr : a.e + edge * a.columns + at;
        T& alpha = a.alpha[edge * a.heads + k];
        alpha /= sum[k];
        add_with(out + at, a.value + j * a.columns + at, e, alpha, channels);
      }
    });
  }
}

template <class T>
void edge_attention_backward(const EdgeGradArgs<T>& g, int64_t begin, int64_t end) {
  const EdgeArgs<T>& a = g.forward;
  const int64_t channels = a.columns / a.heads;
  const T scale = 1 / static_cast<T>(__builtin_sqrt(static_cast<double>(channels)));
  clear_gradients(g, begin, end);
  T mean[kMaxHeads];
  for (int64_t i = begin; i < end; ++i) {
    const T* grad = g.grad_out + i * a.columns;
    for (int64_t k = 0; k < a.heads; ++k) mean[k] = 0;
    edges_into(a, i, [&](int64_t edge, int64_t j) {
      for (int64_t k = 0; k < a.heads; ++k) {
        const int64_t at = k * channels;
        const T* e = a.e == nullptr ? nullptr : a.e + edge * a.columns + at;
        const T part = dot_with(grad + at, a.value + j * a.columns + at, e, channels);
        g.score[edge * a.heads + k] = part;
        mean[k] += a.alpha[edge * a.heads + k] * part;
      }
    });
    edges_into(a, i, [&](int64_t edge, int64_t j) {
      for (int64_t k = 0; k < a.heads; ++k) {
        const int64_t at = k * channels, row = edge * a.columns + at;
        const T alpha = a.alpha[edge * a.heads + k];
        const T score = scale * alpha * (g.score[edge * a.heads + k] - mean[k]);
        const T* e = a.e == nullptr ? nullptr : a.e + row;
        const T* __restrict q = a.own + i * a.columns + at;
        add_with(g.own + i * a.columns + at, a.of_node + j * a.columns + at, e, score, channels);
        T* __restrict to_k = g.of_node + j * a.columns + at;
        T* __restrict to_v = g.value + j * a.columns + at;
        const T* __restrict from = grad + at;
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c) {
          to_k[c] += score * q[c];
          to_v[c] += alpha * from[c];
        }
        if (g.e == nullptr) continue;
        T* __restrict to_e = g.e + row;
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c) to_e[c] = score * q[c] + alpha * from[c];
      }
    });
  }
}

/// l_j + r_i + e_ji, of one column.
template <class T>
inline T edge_sum(const EdgeArgs<T>& a, int64_t i, int64_t j, int64_t edge, int64_t c) {
  const T sum = a.of_node[j * a.columns + c] + a.own[i * a.columns + c];
  return a.e == nullptr ? sum : sum + a.e[edge * a.columns + c];
}

template <class T>
void edge_statistics(const EdgeArgs<T>& a, int64_t begin, int64_t end) {
  const int64_t width = a.columns;
  for (int64_t i = begin; i < end; ++i) {
    T* __restrict mean = a.out + i * 4 * width;
    T* __restrict least = mean + width;
    T* __restrict largest = least + width;
    T* __restrict deviation = largest + width;
    int32_t* __restrict at_least = a.least + i * width;
    int32_t* __restrict at_largest = a.largest + i * width;
    clear(mean, 4 * width);
    for (int64_t c = 0; c < width; ++c) at_least[c] = at_largest[c] = -1;
    int64_t count = 0;
    edges_into(a, i, [&](int64_t edge, int64_t j) {
      const bool is_first = count++ == 0;
      const auto name = static_cast<int32_t>(edge);
      for (int64_t c = 0; c < width; ++c) {
        const T sum = edge_sum(a, i, j, edge, c);
        mean[c] += sum;
        const bool is_less = is_first || sum < least[c], is_more = is_first || sum > largest[c];
        least[c] = is_less ? sum : least[c];
        at_least[c] = is_less ? name : at_least[c];
        largest[c] = is_more ? sum : largest[c];
        at_largest[c] = is_more ? name : at_largest[c];
      }
    });
    if (count == 0) continue;
    const T share = 1 / static_cast<T>(count);
    for (int64_t c = 0; c < width; ++c) mean[c] *= share;
    edges_into(a, i, [&](int64_t edge, int64_t j) {
      for (int64_t c = 0; c < width; ++c) {
        const T distance = edge_sum(a, i, j, edge, c) - mean[c];
        deviation[c] += distance * distance;
      }
    });
    for (int64_t c = 0; c < width; ++c) {
      const T variance = deviation[c] * share;
      deviation[c] = variance > T(kLeastVariance) ? static_cast<T>(__builtin_sqrt(variance)) : T(0);
    }
  }
}

template <class T>
void edge_statistics_backward(const EdgeGradArgs<T>& g, int64_t begin, int64_t end) {
  const EdgeArgs<T>& a = g.forward;
  const int64_t width = a.columns;
  clear_gradients(g, begin, end);
  for (int64_t i = begin; i < end; ++i) {
    int64_t count = 0;
    edges_into(a, i, [&](int64_t, int64_t) { ++count; });
    if (count == 0) continue;
    const T share = 1 / static_cast<T>(count);
    const T* __restrict mean = a.out + i * 4 * width;
    const T* __restrict deviation = mean + 3 * width;
    const T* __restrict grad = g.grad_out + i * 4 * width;
    T* __restrict to_own = g.own + i * width;
    edges_into(a, i, [&](int64_t edge, int64_t j) {
      T* __restrict to_l = g.of_node + j * width;
      const auto name = static_cast<int32_t>(edge);
      for (int64_t c = 0; c < width; ++c) {
        T part = share * grad[c];
        if (a.least[i * width + c] == name) part += grad[width + c];
        if (a.largest[i * width + c] == name) part += grad[2 * width + c];
        if (deviation[c] > 0) {
          const T distance = edge_sum(a, i, j, edge, c) - mean[c];
          part += grad[3 * width + c] * distance * share / deviation[c];
        }
        to_l[c] += part;
        to_own[c] += part;
        if (g.e != nullptr) g.e[edge * width + c] = part;
      }
    });
  }
}
