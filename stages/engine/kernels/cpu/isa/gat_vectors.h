// Attention in whole vectors, for one, four or eight heads of up to 128 channels; included by
// tables.cpp alone, inside the namespace of its instruction set, where that can load a part of a
// vector. It does what gat_loops.h says, for a node with few edges without a loop over single
// numbers.

#if defined(__AVX512F__)

/// The channels of a head, in kParts vectors of which the last is full up to `last`.
template <int kParts>
struct HeadParts {
  __mmask16 last;

  explicit HeadParts(int64_t channels)
      : last(static_cast<__mmask16>((1U << (channels - 16 * int64_t{kParts - 1})) - 1U)) {}

  Floats load(const float* head, int64_t part) const {
    const float* at = head + 16 * part;
    return part + 1 < kParts ? Simd<float>::at(at) : (Floats)_mm512_maskz_loadu_ps(last, at);
  }
  void store(float* head, int64_t part, Floats x) const {
    float* at = head + 16 * part;
    if (part + 1 < kParts) {
      Simd<float>::at(at) = x;
    } else {
      _mm512_mask_storeu_ps(at, last, (__m512)x);
    }
  }
};

/// Numbers of a node, one for each head, in the first lanes; the others are zeros.
template <int kHeads>
struct OfHeads {
  static constexpr __mmask16 kMask = (1U << kHeads) - 1U;

  static Floats load(const float* at) { return (Floats)_mm512_maskz_loadu_ps(kMask, at); }
  static void store(float* at, Floats x) { _mm512_mask_storeu_ps(at, kMask, (__m512)x); }
  /// The sums of the lanes of each of the vectors, in the first lanes.
  static Floats sums(const Floats (&x)[kHeads]) {
    if constexpr (kHeads == 1) {
      return Floats{} + over_lanes(x[0], [](Floats a, Floats b) { return a + b; });
    } else if constexpr (kHeads == 4) {
      return lane_sums<float>(x[0], x[1], x[2], x[3]);
    } else {
      const Floats low =
          folded<float, 2>(folded<float, 1>(x[0], x[1]), folded<float, 1>(x[2], x[3]));
      const Floats high =
          folded<float, 2>(folded<float, 1>(x[4], x[5]), folded<float, 1>(x[6], x[7]));
      const Floats both = folded<float, 4>(low, high);
      return folded<float, 8>(both, both);
    }
  }
};

/// The node itself and then the sources of its other edges, some at a time.
class Terms {
 public:
  static constexpr int64_t kMost = 64;

  Terms(const GatArgs<float>& a, int64_t node)
      : a_(a), node_(node), edge_(a.in_ptr[node]), last_(a.in_ptr[node + 1]) {}
  bool is_first() const { return self_; }
  bool is_done() const { return !self_ && edge_ >= last_; }
  int64_t count() const { return count_; }
  int64_t source(int64_t j) const { return source_[j]; }
  void next() {
    count_ = 0;
    if (self_) source_[count_++] = static_cast<int32_t>(node_);
    self_ = false;
    for (; edge_ < last_ && count_ < kMost; ++edge_) {
      if (a_.in_source[edge_] != node_) source_[count_++] = a_.in_source[edge_];
    }
  }

 private:
  const GatArgs<float>& a_;
  int64_t node_, edge_, last_, count_ = 0;
  bool self_ = true;
  int32_t source_[kMost];
};

template <int kHeads, int kParts>
void vector_gat_forward(const GatArgs<float>& a, int64_t begin, int64_t end) {
  using Of = OfHeads<kHeads>;
  const int64_t channels = a.channels, width = kHeads * channels;
  const HeadParts<kParts> parts(channels);
  for (int64_t i = begin; i < end; ++i) {
    Floats src[kHeads] = {}, dst[kHeads] = {};
#pragma GCC unroll 8
    for (int k = 0; k < kHeads; ++k) {
#pragma GCC unroll 8
      for (int p = 0; p < kParts; ++p) {
        const Floats row = parts.load(a.h + i * width + k * channels, p);
        src[k] += row * parts.load(a.att_src + k * channels, p);
        dst[k] += row * parts.load(a.att_dst + k * channels, p);
      }
    }
    Of::store(a.alpha_src + i * kHeads, Of::sums(src));
    Of::store(a.alpha_dst + i * kHeads, Of::sums(dst));
  }
  const ExpBelow exp_below;
  float weight[Terms::kMost * 16];
  for (int64_t i = begin; i < end; ++i) {
    const Floats dst = Of::load(a.alpha_dst + i * kHeads);
    const auto score = [&](int64_t node) {
      const Floats x = Of::load(a.alpha_src + node * kHeads) + dst;
      return x > 0.0f ? x : x * a.slope;
    };
    Floats top = score(i), sum = {};
    for (int64_t e = a.in_ptr[i]; e < a.in_ptr[i + 1]; ++e)
      top = greater(top, score(a.in_source[e]));
    float* out = a.out + i * width;
    Terms terms(a, i);
    while (!terms.is_done()) {
      const bool is_first = terms.is_first();
      terms.next();
      for (int64_t j = 0; j < terms.count(); ++j) {
        Floats w[1] = {score(terms.source(j)) - top};
        exp_below(w);
        Simd<float>::at(weight + 16 * j) = w[0];
        sum += w[0];
      }
      float inverse[16];
      Simd<float>::at(inverse) = 1.0f / sum;
#pragma GCC unroll 8
      for (int k = 0; k < kHeads; ++k) {
        float* head = out + k * channels;
        Floats total[kParts];
#pragma GCC unroll 8
        for (int p = 0; p < kParts; ++p) total[p] = is_first ? Floats{} : parts.load(head, p);
        for (int64_t j = 0; j < terms.count(); ++j) {
          const float* row = a.h + terms.source(j) * width + k * channels;
#pragma GCC unroll 8
          for (int p = 0; p < kParts; ++p) total[p] += parts.load(row, p) * weight[16 * j + k];
        }
        if (terms.is_done()) {
#pragma GCC unroll 8
          for (int p = 0; p < kParts; ++p) {
            total[p] = total[p] * inverse[k] + parts.load(a.bias + k * channels, p);
          }
        }
#pragma GCC unroll 8
        for (int p = 0; p < kParts; ++p) parts.store(head, p, total[p]);
      }
    }
    float logs[16];
    Simd<float>::at(logs) = sum;
#pragma omp simd
    for (int64_t k = 0; k < 16; ++k) logs[k] = log_of(logs[k]);
    Of::store(a.log_sum + i * kHeads, top + Simd<float>::at(logs));
  }
}

template <int kHeads, int kParts>
void vector_gat_backward(const GatGradArgs<float>& g, int64_t begin, int64_t end, float* partial) {
  using Of = OfHeads<kHeads>;
  const GatArgs<float>& a = g.forward;
  const int64_t channels = a.channels, width = kHeads * channels;
  const HeadParts<kParts> parts(channels);
  for (int64_t i = begin * width; i < end * width; ++i) g.grad_h[i] = 0;
  for (int64_t i = begin * kHeads; i < end * kHeads; ++i) g.grad_alpha_src[i] = 0;
  const ExpBelow exp_below;
  float slopes[Terms::kMost * 16], cosines[Terms::kMost * 16];
  for (int64_t i = begin; i < end; ++i) {
    const float* grad = g.grad_out + i * width;
    const Floats dst = Of::load(a.alpha_dst + i * kHeads);
    const Floats log_sum = Of::load(a.log_sum + i * kHeads);
    // mean: sum_j weight_j <grad, h_j>, over the sum of the weights, which is 1 up to rounding: so
    // the changes of a node add up to nothing where they should.
    Floats mean = {}, total = {}, grad_dst = {};
    // The weights of a term, and its <grad, h_j>; adds its part to grad_h if it `gives`.
    const auto visit = [&](int64_t node, bool gives, Floats& slope, Floats& cosine) {
      const Floats raw = Of::load(a.alpha_src + node * kHeads) + dst;
      Floats w[1] = {(raw > 0.0f ? raw : raw * a.slope) - log_sum};
      exp_below(w);
      float weight[16];
      Simd<float>::at(weight) = w[0];
      Floats products[kHeads] = {};
#pragma GCC unroll 8
      for (int k = 0; k < kHeads; ++k) {
#pragma GCC unroll 8
        for (int p = 0; p < kParts; ++p) {
          const int64_t at = node * width + k * channels;
          const Floats of_out = parts.load(grad + k * channels, p);
          products[k] += of_out * parts.load(a.h + at, p);
          if (gives) {
            parts.store(g.grad_h + at, p, parts.load(g.grad_h + at, p) + of_out * weight[k]);
          }
        }
      }
      cosine = Of::sums(products);
      slope = raw > 0.0f ? w[0] : w[0] * a.slope;
      return w[0];
    };
    Terms terms(a, i);
    bool is_whole = true;  // all terms are in the buffers
    while (!terms.is_done()) {
      is_whole = terms.is_first();
      terms.next();
      for (int64_t j = 0; j < terms.count(); ++j) {
        Floats slope, cosine;
        const Floats weight = visit(terms.source(j), true, slope, cosine);
        mean += weight * cosine;
        total += weight;
        Simd<float>::at(slopes + 16 * j) = slope;
        Simd<float>::at(cosines + 16 * j) = cosine;
      }
    }
    const Floats inverse = 1.0f / total;
    mean *= inverse;
    const auto change = [&](int64_t node, const Floats& slope, const Floats& cosine) {
      const Floats by = slope * inverse * (cosine - mean);
      float* src = g.grad_alpha_src + node * kHeads;
      Of::store(src, Of::load(src) + by);
      grad_dst += by;
    };
    if (is_whole) {
      for (int64_t j = 0; j < terms.count(); ++j) {
        change(terms.source(j), Simd<float>::at(slopes + 16 * j),
               Simd<float>::at(cosines + 16 * j));
      }
    } else {
      for (Terms again(a, i); !again.is_done();) {
        again.next();
        for (int64_t j = 0; j < again.count(); ++j) {
          Floats slope, cosine;
          visit(again.source(j), false, slope, cosine);
          change(again.source(j), slope, cosine);
        }
      }
    }
    Of::store(g.grad_alpha_dst + i * kHeads, grad_dst);
  }
  for (int k = 0; k < kHeads; ++k) {
    const int64_t shift = k * channels;
    Floats att_src[kParts], att_dst[kParts], sums[3][kParts] = {};
#pragma GCC unroll 8
    for (int p = 0; p < kParts; ++p) {
      att_src[p] = parts.load(a.att_src + shift, p);
      att_dst[p] = parts.load(a.att_dst + shift, p);
    }
    for (int64_t i = begin; i < end; ++i) {
      const float from = g.grad_alpha_src[i * kHeads + k], to = g.grad_alpha_dst[i * kHeads + k];
      const int64_t at = i * width + shift;
#pragma GCC unroll 8
      for (int p = 0; p < kParts; ++p) {
        const Floats row = parts.load(a.h + at, p);
        parts.store(g.grad_h + at, p,
                    parts.load(g.grad_h + at, p) + from * att_src[p] + to * att_dst[p]);
        sums[0][p] += from * row;
        sums[1][p] += to * row;
        sums[2][p] += parts.load(g.grad_out + at, p);
      }
    }
#pragma GCC unroll 3
    for (int s = 0; s < 3; ++s) {
#pragma GCC unroll 8
      for (int p = 0; p < kParts; ++p) parts.store(partial + s * width + shift, p, sums[s][p]);
    }
  }
}

/// Calls body(parts) with the vectors of a head of so many channels, a constant; whether there is
/// one.
template <int kParts = 1, class Body>
inline bool with_parts(int64_t channels, const Body& body) {
  if (channels < 1) return false;
  if (channels <= int64_t{16} * kParts) {
    body(std::integral_constant<int, kParts>());
    return true;
  }
  if constexpr (kParts < 8) return with_parts<kParts + 1>(channels, body);
  return false;
}

/// Calls body(heads, parts), constants; whether there are loops for so many.
template <class Body>
inline bool with_heads(const GatArgs<float>& a, const Body& body) {
  const auto for_heads = [&](auto heads) {
    return with_parts(a.channels, [&](auto parts) { body(heads, parts); });
  };
  switch (a.heads) {
    case 1:
      return for_heads(std::integral_constant<int, 1>());
    case 4:
      return for_heads(std::integral_constant<int, 4>());
    case 8:
      return for_heads(std::integral_constant<int, 8>());
    default:
      return false;
  }
}

#endif

template <class T>
void gat_forward(const GatArgs<T>& a, int64_t begin, int64_t end) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) {
    const bool is_done = with_heads(
        a, [&](auto heads, auto parts) { vector_gat_forward<heads(), parts()>(a, begin, end); });
    if (is_done) return;
  }
#endif
  plain_gat_forward(a, begin, end);
}

template <class T>
void gat_backward(const GatGradArgs<T>& g, int64_t begin, int64_t end, T* partial) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) {
    const bool is_done = with_heads(g.forward, [&](auto heads, auto parts) {
      vector_gat_backward<heads(), parts()>(g, begin, end, partial);
    });
    if (is_done) return;
  }
#endif
  plain_gat_backward(g, begin, end, partial);
}
