// Attention over incoming edges; included by tables.cpp alone, inside the namespace of its
// instruction set. Forward, every operation of the portable level has its order from the source.

template <class T>
inline T leaky(T x, T slope) {
  return x > 0 ? x : x * slope;
}

/// Sum of a[i] * b[i], of a[i] through the leaky ReLU where asked. Of the portable level the order
/// is a rule, which C sources made from a model follow to the bit
/// (engine/export/c/runtime/network.c): four sums (two of doubles) of every fourth product, then
/// the upper half of them added to the lower one until one is left, then the products that fill no
/// vector, one by one. The wider levels leave the order to the compiler.
template <bool kLeaky, class T>
inline T dot_of(const T* __restrict a, const T* __restrict b, int64_t n, T slope) {
  using S = Simd<T>;
  T sum = 0;
  if constexpr (kVectorBytes > 16) {
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += (kLeaky ? leaky(a[i], slope) : a[i]) * b[i];
    return sum;
  }
  typename S::Vector sums{};
  const int64_t left = n % S::kLanes, whole = n - left;
  for (int64_t i = 0; i < whole; i += S::kLanes) {
    const typename S::Vector x = S::at(a + i), y = S::at(b + i);
    sums += (kLeaky ? (x > 0 ? x : x * slope) : x) * y;
  }
  for (int half = S::kLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  sum = sums[0];
  a += whole;
  b += whole;
  for (int64_t i = 0; i < left; ++i) sum += (kLeaky ? leaky(a[i], slope) : a[i]) * b[i];
  return sum;
}

template <class T>
inline T dot(const T* __restrict a, const T* __restrict b, int64_t n) {
  return dot_of<false>(a, b, n, T(0));
}

template <class T>
inline void add_scaled(T* __restrict to, const T* __restrict from, T factor, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// Scores are handled in chunks of edges that fit a small buffer, whatever the degree.
constexpr int64_t kChunk = 256;

/// x[i] = exp(x[i]) for i < count, in whole vectors: x has room up to the next multiple of 16,
/// which is overwritten.
template <class T>
inline void exp_all(T* x, int64_t count) {
  const int64_t whole = (count + 15) / 16 * 16;
  for (int64_t i = count; i < whole; ++i) x[i] = 0;
  for (int64_t i = 0; i < whole; i += 16) {
#pragma omp simd
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): full up to count, zero from there on
    for (int64_t j = 0; j < 16; ++j) x[i + j] = exp_of(x[i + j]);
  }
}

/// kChannels: channels of a head, known when compiled; 0 = any.
template <class T, int64_t kChannels>
void gat_forward_of(const GatArgs<T>& a, int64_t begin, int64_t end) {
  const int64_t heads = a.heads, channels = kChannels > 0 ? kChannels : a.channels;
  const int64_t width = heads * channels;
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t k = 0; k < heads; ++k) {
      const T* row = a.h + i * width + k * channels;
      a.alpha_src[i * heads + k] = dot(row, a.att_src + k * channels, channels);
      a.alpha_dst[i * heads + k] = dot(row, a.att_dst + k * channels, channels);
    }
  }
  const int64_t chunk = kChunk / heads;
  T weight[kChunk], top[kMaxHeads], sum[kMaxHeads];
  int32_t source[kChunk];
  for (int64_t i = begin; i < end; ++i) {
    const T* dst = a.alpha_dst + i * heads;
    for (int64_t k = 0; k < heads; ++k) {
      top[k] = leaky(a.alpha_src[i * heads + k] + dst[k], a.slope);
      sum[k] = 0;
    }
    const int64_t first = a.in_ptr[i], last = a.in_ptr[i + 1];
    for (int64_t e = first; e < last; ++e) {
      const T* src = a.alpha_src + a.in_source[e] * heads;  // a self-loop changes no maximum
      for (int64_t k = 0; k < heads; ++k) {
        const T score = leaky(src[k] + dst[k], a.slope);
        top[k] = score > top[k] ? score : top[k];
      }
    }
    T* out = a.out + i * width;
    for (int64_t c = 0; c < width; ++c) out[c] = 0;
    bool self = true;  // the node itself comes first
    for (int64_t e = first; self || e < last;) {
      int64_t count = 0;
      if (self) source[count++] = static_cast<int32_t>(i);
      self = false;
      for (; e < last && count < chunk; ++e) {
        if (a.in_source[e] != i) source[count++] = a.in_source[e];
      }
      for (int64_t j = 0; j < count; ++j) {
        const T* src = a.alpha_src + source[j] * heads;
        for (int64_t k = 0; k < heads; ++k) {
          weight[j * heads + k] = leaky(src[k] + dst[k], a.slope) - top[k];
        }
      }
      exp_all(weight, count * heads);
      for (int64_t j = 0; j < count; ++j) {
        const T* row = a.h + source[j] * width;
        for (int64_t k = 0; k < heads; ++k) {
          sum[k] += weight[j * heads + k];
          add_scaled(out + k * channels, row + k * channels, weight[j * heads + k], channels);
        }
      }
    }
    for (int64_t k = 0; k < heads; ++k) {
      const T inverse = 1 / sum[k];
      T* head = out + k * channels;
      const T* bias = a.bias + k * channels;
#pragma omp simd
      for (int64_t c = 0; c < channels; ++c) head[c] = head[c] * inverse + bias[c];
    }
    for (int64_t k = heads; k % 16 != 0; ++k) sum[k] = 1;
    for (int64_t k = 0; k < heads; k += 16) {
#pragma omp simd
      for (int64_t j = 0; j < 16; ++j) sum[k + j] = log_of(sum[k + j]);
    }
    for (int64_t k = 0; k < heads; ++k) a.log_sum[i * heads + k] = top[k] + sum[k];
  }
}

template <class T, int64_t kChannels>
void gat_backward_of(const GatGradArgs<T>& g, int64_t begin, int64_t end, T* partial) {
  const GatArgs<T>& a = g.forward;
  const int64_t heads = a.heads, channels = kChannels > 0 ? kChannels : a.channels;
  const int64_t width = heads * channels;
  for (int64_t i = begin * width; i < end * width; ++i) g.grad_h[i] = 0;
  for (int64_t i = begin * heads; i < end * heads; ++i) g.grad_alpha_src[i] = 0;
  const int64_t chunk = kChunk / heads;
  T raw[kChunk], weight[kChunk], cosine[kChunk];
  T mean[kMaxHeads], inverse[kMaxHeads], grad_dst[kMaxHeads];
  int32_t source[kChunk];
  for (int64_t i = begin; i < end; ++i) {
    const T* dst = a.alpha_dst + i * heads;
    const T* log_sum = a.log_sum + i * heads;
    const T* grad = g.grad_out + i * width;
    const int64_t last = a.in_ptr[i + 1];
    for (int64_t k = 0; k < heads; ++k) mean[k] = inverse[k] = grad_dst[k] = 0;
    // The next terms from edge e on, the node itself first: their weights and <grad, h_j>; adds
    // their part to grad_h if it `gives`. Returns how many.
    const auto visit = [&](int64_t& e, bool& self, bool gives) {
      int64_t count = 0;
      if (self) source[count++] = static_cast<int32_t>(i);
      self = false;
      for (; e < last && count < chunk; ++e) {
        if (a.in_source[e] != i) source[count++] = a.in_source[e];
      }
      for (int64_t j = 0; j < count; ++j) {
        const T* src = a.alpha_src + source[j] * heads;
        for (int64_t k = 0; k < heads; ++k) {
          raw[j * heads + k] = src[k] + dst[k];
          weight[j * heads + k] = leaky(src[k] + dst[k], a.slope) - log_sum[k];
        }
      }
      exp_all(weight, count * heads);
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t k = 0; k < heads; ++k) {
          const T w = weight[j * heads + k];
          const T* row = a.h + source[j] * width + k * channels;
          T* grad_row = g.grad_h + source[j] * width + k * channels;
          const T* grad_head = grad + k * channels;
          T sum = 0;
          if (gives) {
#pragma omp simd reduction(+ : sum)
            for (int64_t c = 0; c < channels; ++c) {
              sum += grad_head[c] * row[c];
              grad_row[c] += w * grad_head[c];
            }
          } else {
            sum = dot(grad_head, row, channels);
          }
          cosine[j * heads + k] = sum;
        }
      }
      return count;
    };
    const auto change = [&](int64_t count) {
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t k = 0; k < heads; ++k) {
          const int64_t at = j * heads + k;
          const T by =
              weight[at] * inverse[k] * (cosine[at] - mean[k]) * (raw[at] > 0 ? T(1) : a.slope);
          g.grad_alpha_src[source[j] * heads + k] += by;
          grad_dst[k] += by;
        }
      }
    };
    // mean: sum_j weight_j <grad, h_j>, over the sum of the weights, which is 1 up to rounding: so
    // the changes of a node add up to nothing where they should. It is of all terms: where they do
    // not fit they are visited again.
    bool self = true;
    int64_t e = a.in_ptr[i], count = 0;
    while (self || e < last) {
      count = visit(e, self, true);
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t k = 0; k < heads; ++k) {
          mean[k] += weight[j * heads + k] * cosine[j * heads + k];
          inverse[k] += weight[j * heads + k];
        }
      }
    }
    for (int64_t k = 0; k < heads; ++k) {
      inverse[k] = 1 / inverse[k];
      mean[k] *= inverse[k];
    }
    if (1 + last - a.in_ptr[i] <= chunk) {
      change(count);
    } else {
      self = true;
      for (e = a.in_ptr[i]; self || e < last;) change(visit(e, self, false));
    }
    for (int64_t k = 0; k < heads; ++k) g.grad_alpha_dst[i * heads + k] = grad_dst[k];
  }
  T* grad_att_src = partial;
  T* grad_att_dst = partial + width;
  T* grad_bias = partial + 2 * width;
  for (int64_t c = 0; c < 3 * width; ++c) partial[c] = 0;
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t k = 0; k < heads; ++k) {
      const T from = g.grad_alpha_src[i * heads + k], to = g.grad_alpha_dst[i * heads + k];
      const int64_t shift = k * channels;
      const T* row = a.h + i * width + shift;
      const T* grad = g.grad_out + i * width + shift;
      T* grad_row = g.grad_h + i * width + shift;
#pragma omp simd
      for (int64_t c = 0; c < channels; ++c) {
        grad_row[c] += from * a.att_src[shift + c] + to * a.att_dst[shift + c];
        grad_att_src[shift + c] += from * row[c];
        grad_att_dst[shift + c] += to * row[c];
        grad_bias[shift + c] += grad[c];
      }
    }
  }
}

// Loops over the channels of a head are short: where their length is known they need no remainders.
template <class T>
void plain_gat_forward(const GatArgs<T>& a, int64_t begin, int64_t end) {
  switch (a.channels) {
    case 10:
      return gat_forward_of<T, 10>(a, begin, end);
    case 24:
      return gat_forward_of<T, 24>(a, begin, end);
    case 48:
      return gat_forward_of<T, 48>(a, begin, end);
    case 60:
      return gat_forward_of<T, 60>(a, begin, end);
    case 120:
      return gat_forward_of<T, 120>(a, begin, end);
    default:
      return gat_forward_of<T, 0>(a, begin, end);
  }
}

template <class T>
void plain_gat_backward(const GatGradArgs<T>& g, int64_t begin, int64_t end, T* partial) {
  switch (g.forward.channels) {
    case 10:
      return gat_backward_of<T, 10>(g, begin, end, partial);
    case 24:
      return gat_backward_of<T, 24>(g, begin, end, partial);
    case 48:
      return gat_backward_of<T, 48>(g, begin, end, partial);
    case 60:
      return gat_backward_of<T, 60>(g, begin, end, partial);
    case 120:
      return gat_backward_of<T, 120>(g, begin, end, partial);
    default:
      return gat_backward_of<T, 0>(g, begin, end, partial);
  }
}
