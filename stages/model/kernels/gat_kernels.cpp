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
  const float t = x * 1.44269504088896341f;
  const int32_t n = static_cast<int32_t>(t + (t < 0 ? -0.5f : 0.5f));
  const auto k = static_cast<float>(n);
  const float r = (x - k * 0.693359375f) - k * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return p * bits_as<float>((n + 127) << 23);
}
inline double exp_of(double x) { return __builtin_exp(x); }

/// log(1 + e) for e in [0, 1], from the series of the inverse hyperbolic tangent.
inline float log1p_of(float e) {
  const float s = e / (2.0f + e);
  const float q = s * s;
  float p = 1.0f / 13;
  p = p * q + 1.0f / 11;
  p = p * q + 1.0f / 9;
  p = p * q + 1.0f / 7;
  p = p * q + 1.0f / 5;
  p = p * q + 1.0f / 3;
  return 2 * s + 2 * s * q * p;
}
inline double log1p_of(double e) { return __builtin_log1p(e); }

inline float log_of(float x) { return __builtin_logf(x); }
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

template <class T>
void gat_forward(const GatArgs<T>& a, int64_t begin, int64_t end) {
  const int64_t heads = a.heads, channels = a.channels, width = heads * channels;
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
#pragma omp simd
      for (int64_t j = 0; j < count * heads; ++j) weight[j] = exp_of(weight[j]);
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
      a.log_sum[i * heads + k] = top[k] + log_of(sum[k]);
    }
  }
}

template <class T>
void gat_backward(const GatGradArgs<T>& g, int64_t begin, int64_t end, T* partial) {
  const GatArgs<T>& a = g.forward;
  const int64_t heads = a.heads, channels = a.channels, width = heads * channels;
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
#pragma omp simd
      for (int64_t j = 0; j < count * heads; ++j) weight[j] = exp_of(weight[j]);
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

/// A 31-bit hash of the element's number (after C. Wellons' lowbias32, with a second key).
inline int32_t hash(uint32_t element, uint32_t low, uint32_t high) {
  uint32_t x = element * 0x9E3779B9u + low;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= high;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  x ^= x >> 16;
  return static_cast<int32_t>(x >> 1);
}

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

template <class T>
void sigmoid_rows(T* x, int64_t rows, int64_t columns, T* softplus_sum) {
  for (int64_t r = 0; r < rows; ++r) {
    T* row = x + r * columns;
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < columns; ++c) {
      const T v = row[c];
      const T small = exp_of(v > 0 ? -v : v);
      const T inverse = 1 / (1 + small);
      row[c] = v > 0 ? inverse : small * inverse;
      sum += (v > 0 ? v : T(0)) + log1p_of(small);
    }
    softplus_sum[r] = sum;
  }
}

#include "model/kernels/head_kernels.h"

template <class T>
constexpr Table<T> kTable = {gat_forward<T>,        gat_backward<T>,   relu_drop<T>,
                             relu_drop_backward<T>, norm_relu_drop<T>, column_sums<T>,
                             norm_grad_sums<T>,     norm_grad<T>,      uniform<T>,
                             mean_rows<T>,          softmax_rows<T>,   sigmoid_rows<T>,
                             head_logits<T>,        head_grad_rows<T>, head_grad_weights<T>};

}  // namespace

const Table<float>& table_float() { return kTable<float>; }
const Table<double>& table_double() { return kTable<double>; }

}  // namespace kdgat::model::kernels::KDGAT_KERNEL_ISA
