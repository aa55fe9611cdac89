// Compiled once for each instruction set; KDGAT_KERNEL_ISA names the namespace. The loops are
// plain: the compiler turns them into vector code of that set.
#include "model/kernels/kernels.h"

#ifndef KDGAT_KERNEL_ISA
#define KDGAT_KERNEL_ISA portable
#endif

namespace kdgat::model::kernels::KDGAT_KERNEL_ISA {

namespace {

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// exp to 2 units in the last place (Cephes expf), without branches, so that loops vectorise.
inline float exp_of(float x) {
  x = x > 88.0f ? 88.0f : x;
  x = x < -87.0f ? -87.0f : x;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: the sum's low bits are the nearest integer
  const float rounded = x * 1.44269504088896341f + kRound;
  const float k = rounded - kRound;
  const float r = (x - k * 0.693359375f) - k * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return p * bits_as<float>((bits_as<uint32_t>(rounded) << 23) + 0x3F800000u);
}
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

template <class T>
inline T leaky(T x, T slope) {
  return x > 0 ? x : x * slope;
}

template <class T>
inline T dot(const T* __restrict a, const T* __restrict b, int64_t n) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
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
  T raw[kChunk], weight[kChunk], mean[kMaxHeads], grad_dst[kMaxHeads];
  int32_t source[kChunk];
  for (int64_t i = begin; i < end; ++i) {
    const T* dst = a.alpha_dst + i * heads;
    const T* log_sum = a.log_sum + i * heads;
    const T* grad = g.grad_out + i * width;
    const T* out = a.out + i * width;
    // sum_j weight_j <grad, h_j> = <grad, out - bias>
    for (int64_t k = 0; k < heads; ++k) {
      const T* bias = a.bias + k * channels;
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t c = k * channels; c < (k + 1) * channels; ++c) {
        sum += grad[c] * (out[c] - bias[c - k * channels]);
      }
      mean[k] = sum;
      grad_dst[k] = 0;
    }
    const int64_t last = a.in_ptr[i + 1];
    bool self = true;
    for (int64_t e = a.in_ptr[i]; self || e < last;) {
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
        const int64_t at = source[j];
        for (int64_t k = 0; k < heads; ++k) {
          const T w = weight[j * heads + k];
          const T* row = a.h + at * width + k * channels;
          T* grad_row = g.grad_h + at * width + k * channels;
          const T* grad_head = grad + k * channels;
          T cosine = 0;
#pragma omp simd reduction(+ : cosine)
          for (int64_t c = 0; c < channels; ++c) {
            cosine += grad_head[c] * row[c];
            grad_row[c] += w * grad_head[c];
          }
          const T change = w * (cosine - mean[k]) * (raw[j * heads + k] > 0 ? T(1) : a.slope);
          g.grad_alpha_src[at * heads + k] += change;
          grad_dst[k] += change;
        }
      }
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
void gat_forward(const GatArgs<T>& a, int64_t begin, int64_t end) {
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
void gat_backward(const GatGradArgs<T>& g, int64_t begin, int64_t end, T* partial) {
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

#include "model/kernels/dropout_hash.h"

template <class T>
void relu_drop(const T* x, int64_t count, DropKey key, T scale, T* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const bool keep = hash(static_cast<uint32_t>(i), key.low, key.high) >= key.threshold;
    const T value = x[i] > 0 ? x[i] * scale : T(0);
    out[i] = keep ? value : T(0);
  }
}

template <class T>
void relu_drop_backward(const T* out, const T* grad, int64_t count, T scale, T* grad_x) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) grad_x[i] = out[i] > 0 ? grad[i] * scale : T(0);
}

template <class T>
void norm_relu_drop(const T* x, const T* gain, const T* shift, int64_t rows, int64_t columns,
                    DropKey key, T scale, T* out) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = x + r * columns;
    T* to = out + r * columns;
    const auto first = static_cast<uint32_t>(r * columns);
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
      const bool keep = hash(first + static_cast<uint32_t>(c), key.low, key.high) >= key.threshold;
      const T value = from[c] * gain[c] + shift[c];
      const T positive = value > 0 ? value * scale : T(0);
      to[c] = keep ? positive : T(0);
    }
  }
}

template <class T>
void column_sums(const T* x, const T* mean, int64_t rows, int64_t columns, int power, T* sums) {
  for (int64_t c = 0; c < columns; ++c) sums[c] = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * columns;
    if (power == 1) {
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) sums[c] += row[c];
    } else {
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) {
        const T d = row[c] - mean[c];
        sums[c] += d * d;
      }
    }
  }
}

template <class T>
void norm_grad_sums(const T* x, const T* mean, const T* out, const T* grad, T scale, int64_t rows,
                    int64_t columns, T* sum_g, T* sum_gx) {
  for (int64_t c = 0; c < columns; ++c) sum_g[c] = sum_gx[c] = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * columns;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
      const T g = out[at + c] > 0 ? grad[at + c] * scale : T(0);
      sum_g[c] += g;
      sum_gx[c] += g * (x[at + c] - mean[c]);
    }
  }
}

template <class T>
void norm_grad(const T* x, const T* mean, const T* out, const T* grad, T scale, const T* a,
               const T* b, const T* c, int64_t rows, int64_t columns, T* grad_x) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * columns;
#pragma omp simd
    for (int64_t k = 0; k < columns; ++k) {
      const T g = out[at + k] > 0 ? grad[at + k] * scale : T(0);
      grad_x[at + k] = g * a[k] - (x[at + k] - mean[k]) * b[k] - c[k];
    }
  }
}

template <class T>
void uniform(uint32_t low, uint32_t high, int64_t count, T* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int32_t top = hash(static_cast<uint32_t>(i), low, high) >> 7;  // 24 bits: exact in float
    out[i] = (static_cast<T>(top) + T(0.5)) * T(1.0 / 16777216);
  }
}

template <class T>
void mean_rows(const T* x, int64_t begin, int64_t end, int64_t columns, T* out) {
  column_sums<T>(x + begin * columns, nullptr, end - begin, columns, 1, out);
  const T factor = end > begin ? T(1) / static_cast<T>(end - begin) : T(0);
  for (int64_t c = 0; c < columns; ++c) out[c] *= factor;
}

template <class T>
void spread_rows(const T* grad, int64_t begin, int64_t end, int64_t columns, T* grad_x) {
  const T factor = end > begin ? T(1) / static_cast<T>(end - begin) : T(0);
  for (int64_t r = begin; r < end; ++r) {
    T* to = grad_x + r * columns;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) to[c] = grad[c] * factor;
  }
}

template <class T>
void softmax_rows(T* x, int64_t rows, int64_t columns, T* log_sum, T* inverse_sum) {
  for (int64_t r = 0; r < rows; ++r) {
    T* row = x + r * columns;
    T top = row[0], sum = 0;
#pragma omp simd reduction(max : top)
    for (int64_t c = 0; c < columns; ++c) top = row[c] > top ? row[c] : top;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < columns; ++c) {
      row[c] = exp_of(row[c] - top);
      sum += row[c];
    }
    log_sum[r] = top + log_of(sum);
    inverse_sum[r] = 1 / sum;
  }
}

/// log(1 + exp(v)) = max(v, 0) + log(1 + exp(-|v|)), and the logs of a row are the log of a
/// product, kept in lanes of factors in [1, 2].
template <class T>
void sigmoid_rows(T* x, int64_t rows, int64_t columns, T* softplus_sum) {
  constexpr int64_t kLanes = kHeadPadding;
  constexpr int64_t kFactors = 64;  // of one lane before its exponent is taken off: at most 2^64
  for (int64_t r = 0; r < rows; ++r) {
    T* row = x + r * columns;
    T product[kLanes], sum[kLanes];
    for (int64_t j = 0; j < kLanes; ++j) product[j] = 1, sum[j] = 0;
    int64_t exponent = 0;
    for (int64_t first = 0; first < columns; first += kLanes * kFactors) {
      const int64_t last =
          first + kLanes * kFactors < columns ? first + kLanes * kFactors : columns;
      for (int64_t c = first; c < last; c += kLanes) {
#pragma omp simd
        for (int64_t j = 0; j < kLanes; ++j) {
          const T v = row[c + j];
          const T small = exp_of(v > 0 ? -v : v);
          const T one = 1 + small;
          const T inverse = 1 / one;
          row[c + j] = v > 0 ? inverse : small * inverse;
          sum[j] += v > 0 ? v : T(0);
          product[j] *= one;
        }
      }
      for (int64_t j = 0; j < kLanes; ++j) {
        int taken = 0;
        product[j] = __builtin_frexp(product[j], &taken);
        exponent += taken;
      }
    }
    T mantissa = 1, positive = 0;  // 64 mantissas of at least 1/2
    for (int64_t j = 0; j < kLanes; ++j) {
      mantissa *= product[j];
      positive += sum[j];
    }
    softplus_sum[r] =
        positive + (log_of(mantissa) + static_cast<T>(exponent) * T(0.693147180559945309));
  }
}

#include "model/kernels/gatv2_kernels.h"
#include "model/kernels/head_kernels.h"
#include "model/kernels/path_kernels.h"
#include "model/kernels/sparse_kernels.h"

template <class T>
constexpr Table<T> kTable = {gat_forward<T>,    gat_backward<T>,
                             gatv2_forward<T>,  gatv2_backward<T>,
                             relu_drop<T>,      relu_drop_backward<T>,
                             norm_relu_drop<T>, column_sums<T>,
                             norm_grad_sums<T>, norm_grad<T>,
                             uniform<T>,        mean_rows<T>,
                             spread_rows<T>,    softmax_rows<T>,
                             sigmoid_rows<T>,   head_logits<T>,
                             head_grad_rows<T>, head_grad_weights<T>,
                             add_runs<T>,       sum_runs<T>,
                             relu_sum<T>,       relu_sum_backward<T>,
                             smear<T>,          sparse_rows<T>,
                             Simd<T>::kLanes,   kSparseVectors* Simd<T>::kLanes};

}  // namespace

const Table<float>& table_float() { return kTable<float>; }
const Table<double>& table_double() { return kTable<double>; }

}  // namespace kdgat::model::kernels::KDGAT_KERNEL_ISA
