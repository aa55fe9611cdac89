#include "fields/ratings/model/sage_pairs.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <cmath>
#include <cstring>

#include "engine/kernels/noise_keys.h"
#include "fields/ratings/model/sage.h"
#include "fields/ratings/model/sage_ops.h"

namespace kdgat::ratings {
namespace {

constexpr uint64_t kHeadLayer = 1000;  // names the noise of the head
constexpr double kLogEpsilon = 1e-10;

/// A hash of 31 bits, uniform.
int32_t noise_of(uint64_t base, uint64_t element) {
  return static_cast<int32_t>(sage_noise(base, static_cast<int64_t>(element), 0) >> 33);
}

template <class T>
struct Head {
  const T *w1, *b1, *w2;
  T b2;
  T *grad_w1, *grad_b1, *grad_w2, *grad_b2;

  explicit Head(const SageNet& net)
      : w1(net.parameter("head.0.weight").const_data_ptr<T>()),
        b1(net.parameter("head.0.bias").const_data_ptr<T>()),
        w2(net.parameter("head.2.weight").const_data_ptr<T>()),
        b2(net.parameter("head.2.bias").const_data_ptr<T>()[0]),
        grad_w1(net.grad("head.0.weight").data_ptr<T>()),
        grad_b1(net.grad("head.0.bias").data_ptr<T>()),
        grad_w2(net.grad("head.2.weight").data_ptr<T>()),
        grad_b2(net.grad("head.2.bias").data_ptr<T>()) {}

  /// hidden [16] after ReLU and dropout.
  T forward(T score, uint64_t noise, int32_t threshold, T scale, T* hidden) const {
    T sum = b2;
    for (int64_t j = 0; j < kHeadUnits; ++j) {
      const T z = w1[j] * score + b1[j];
      const bool keep = threshold == 0 || noise_of(noise, static_cast<uint64_t>(j)) >= threshold;
      hidden[j] = z > 0 && keep ? z * scale : T(0);
      sum += w2[j] * hidden[j];
    }
    return sum;
  }
  /// Gradient of the score; those of the weights grow.
  T backward(T score, T grad, const T* hidden, T scale) const {
    T grad_score = 0;
    *grad_b2 += grad;
    for (int64_t j = 0; j < kHeadUnits; ++j) {
      if (hidden[j] <= 0) continue;
      grad_w2[j] += grad * hidden[j];
      const T grad_z = grad * w2[j] * scale;
      grad_w1[j] += grad_z * score;
      grad_b1[j] += grad_z;
      grad_score += grad_z * w1[j];
    }
    return grad_score;
  }
};

template <class T>
T dot(const T* a, const T* b, int64_t n) {
  T sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

template <class T>
void add_scaled(T* __restrict to, const T* __restrict from, T factor, int64_t n) {
  for (int64_t c = 0; c < n; ++c) to[c] += factor * from[c];
}

double scale_of(const SageConfig& config) {
  return config.scaled_score ? 1 / std::sqrt(static_cast<double>(config.hidden)) : 1;
}

template <class T>
class PairStep {
 public:
  PairStep(const SageNet& net, const at::Tensor& slot, const at::Tensor& out,
           const at::Tensor& grad)
      : width_(net.config().hidden),
        scale_(T(scale_of(net.config()))),
        dropout_(net.config().dropout),
        slot_(slot.const_data_ptr<int32_t>()),
        out_(out.const_data_ptr<T>()),
        grad_(grad.data_ptr<T>()),
        head_(net) {
    grad.zero_();
    if (!net.config().bias_terms) return;
    bias_ = net.parameter("node.bias").const_data_ptr<T>();
    grad_bias_ = net.grad("node.bias").data_ptr<T>();
  }

  double mse(const RatedPairs& batch, const PairLoss& loss, const graph::NoiseKey& key) {
    const int32_t threshold = kernels::drop_threshold(dropout_);
    const T keep = T(1 / (1 - dropout_));
    const double weight = loss.mse_weight / static_cast<double>(batch.user.size());
    const uint64_t noise = sage_noise(key.seed, key.step, kHeadLayer);
    double sum = 0;
    for (std::size_t p = 0; p < batch.user.size(); ++p) {
      const int32_t u = batch.user[p], i = batch.item[p];
      T hidden[kHeadUnits];
      const T s = score(u, i);
      const T raw =
          head_.forward(s, noise + p * kHeadUnits, threshold, keep, hidden) + biases(u, i);
      double y = static_cast<double>(raw);
      const bool is_outside = loss.clamp && (y < loss.low || y > loss.high);
      if (is_outside) y = y < loss.low ? loss.low : loss.high;
      const double error = y - static_cast<double>(batch.rating[p]);
      sum += weight * error * error;
      if (is_outside) continue;
      const T grad = T(2 * weight * error);
      add_score_gradient(u, i, head_.backward(s, grad, hidden, keep));
      if (bias_ == nullptr) continue;
      grad_bias_[u] += grad;
      grad_bias_[i] += grad;
    }
    return sum;
  }

  double bpr(const RatedPairs& batch, const PairLoss& loss) {
    const double weight = loss.bpr_weight / static_cast<double>(batch.user.size());
    double sum = 0;
    for (std::size_t p = 0; p < batch.user.size(); ++p) {
      const int32_t u = batch.user[p], i = batch.item[p], j = batch.negative[p];
      T difference = score(u, i) - score(u, j);
      if (bias_ != nullptr) difference += bias_[i] - bias_[j];
      const double sigmoid = 1 / (1 + std::exp(-static_cast<double>(difference)));
      sum -= weight * std::log(sigmoid + kLogEpsilon);
      const T grad = T(-weight * sigmoid * (1 - sigmoid) / (sigmoid + kLogEpsilon));
      add_score_gradient(u, i, grad);
      add_score_gradient(u, j, -grad);
      if (bias_ == nullptr) continue;
      grad_bias_[i] += grad;
      grad_bias_[j] -= grad;
    }
    return sum;
  }

 private:
  int64_t row(int32_t node) const { return slot_[node] * width_; }
  T score(int32_t u, int32_t i) const { return scale_ * dot(out_ + row(u), out_ + row(i), width_); }
  T biases(int32_t u, int32_t i) const { return bias_ == nullptr ? T(0) : bias_[u] + bias_[i]; }
  void add_score_gradient(int32_t u, int32_t i, T grad) {
    add_scaled(grad_ + row(u), out_ + row(i), grad * scale_, width_);
    add_scaled(grad_ + row(i), out_ + row(u), grad * scale_, width_);
  }

  int64_t width_;
  T scale_;
  double dropout_;
  const int32_t* slot_;
  const T* out_;
  T* grad_;
  Head<T> head_;
  const T* bias_ = nullptr;
  T* grad_bias_ = nullptr;
};

/// Calls visit(row of `rows`, its number) with the bytes of a row.
template <class Visit>
void each_row(std::span<const int32_t> rows, const Visit& visit) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    visit(static_cast<int64_t>(rows[r]), static_cast<int64_t>(r));
  }
}

}  // namespace

double pair_gradients(const SageNet& net, const RatedPairs& batch, const PairLoss& loss,
                      const graph::NoiseKey& key, const at::Tensor& slot_N,
                      const at::Tensor& out_RH, const at::Tensor& grad_RH) {
  double value = 0;
  AT_DISPATCH_FLOATING_TYPES(out_RH.scalar_type(), "pair_gradients", [&] {
    PairStep<scalar_t> step(net, slot_N, out_RH, grad_RH);
    if (loss.mse_weight > 0) value += step.mse(batch, loss, key);
    if (loss.bpr_weight > 0) value += step.bpr(batch, loss);
  });
  return value;
}

SageHead::SageHead(const SageNet& net, const at::Tensor& h_NH)
    : h_NH_(h_NH),
      w1_(net.parameter("head.0.weight").const_data_ptr<float>()),
      b1_(net.parameter("head.0.bias").const_data_ptr<float>()),
      w2_(net.parameter("head.2.weight").const_data_ptr<float>()),
      b2_(net.parameter("head.2.bias").const_data_ptr<float>()[0]),
      scale_(static_cast<float>(scale_of(net.config()))) {
  if (net.config().bias_terms) bias_N_ = net.parameter("node.bias");
}

Prediction SageHead::of(float dot_product, int64_t user, int64_t item) const {
  const float s = dot_product * scale_;
  float y = b2_;
  for (int64_t j = 0; j < kHeadUnits; ++j) y += w2_[j] * std::max(0.0F, w1_[j] * s + b1_[j]);
  if (!bias_N_.defined()) return {static_cast<double>(s), static_cast<double>(y)};
  const float* bias = bias_N_.const_data_ptr<float>();
  return {static_cast<double>(s + bias[item]), static_cast<double>(y + bias[user] + bias[item])};
}

Prediction SageHead::predict(int64_t user, int64_t item) const {
  const int64_t width = h_NH_.size(1);
  const float* h = h_NH_.const_data_ptr<float>();
  return of(dot(h + user * width, h + item * width, width), user, item);
}

void copy_rows(const at::Tensor& from, std::span<const int32_t> rows, const at::Tensor& to) {
  AT_DISPATCH_FLOATING_TYPES(from.scalar_type(), "copy_rows", [&] {
    const scalar_t* source = from.const_data_ptr<scalar_t>();
    scalar_t* target = to.data_ptr<scalar_t>();
    each_row(rows, [&](int64_t node, int64_t r) {
      std::memcpy(target + r * to.stride(0), source + node * from.stride(0),
                  static_cast<std::size_t>(to.size(1)) * sizeof(scalar_t));
    });
  });
}

void add_rows(const at::Tensor& from, std::span<const int32_t> rows, const at::Tensor& to) {
  AT_DISPATCH_FLOATING_TYPES(from.scalar_type(), "add_rows", [&] {
    const scalar_t* source = from.const_data_ptr<scalar_t>();
    scalar_t* target = to.data_ptr<scalar_t>();
    each_row(rows, [&](int64_t node, int64_t r) {
      add_scaled(target + node * to.stride(0), source + r * from.stride(0), scalar_t(1),
                 to.size(1));
    });
  });
}

}  // namespace kdgat::ratings
