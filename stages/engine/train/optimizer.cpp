#include "engine/train/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace kdgat::train {

namespace {

/// Whether all are numbers that can be reckoned with as they lie: models of many small tensors are
/// not to wait for a call of an operation for each.
bool are_arrays(const std::vector<at::Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& t) {
    return t.is_cpu() && t.scalar_type() == at::kFloat && t.is_contiguous();
  });
}

double square_sum(const at::Tensor& tensor) {
  constexpr int64_t kLanes = 16;
  const float* x = tensor.const_data_ptr<float>();
  const int64_t size = tensor.numel(), whole = size - size % kLanes;
  double sums[kLanes] = {};
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = x[i + lane];
      sums[lane] += value * value;
    }
  }
  for (int64_t i = whole; i < size; ++i) sums[i - whole] += static_cast<double>(x[i]) * x[i];
  return std::accumulate(sums, sums + kLanes, 0.0);
}

}  // namespace

Optimizer::Optimizer(NamedTensors parameters, bool decoupled, double weight_decay)
    : parameters_(std::move(parameters)), decoupled_(decoupled), weight_decay_(weight_decay) {
  for (const auto& [name, parameter] : parameters_) {
    mean_.push_back(at::zeros_like(parameter));
    square_.push_back(at::zeros_like(parameter));
    steps_.push_back(at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false)));
  }
}

void Optimizer::zero_grad() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

std::vector<at::Tensor> Optimizer::gradients() const {
  std::vector<at::Tensor> out;
  for (const auto& [name, parameter] : parameters_) {
    if (parameter.grad().defined()) out.push_back(parameter.grad());
  }
  return out;
}

void Optimizer::clip(double max_norm) {
  const std::vector<at::Tensor> grads = gradients();
  if (max_norm <= 0 || grads.empty()) return;
  const at::NoGradGuard no_grad;
  if (are_arrays(grads)) {
    double squares = 0;
    for (const at::Tensor& grad : grads) squares += square_sum(grad);
    const auto factor = static_cast<float>(max_norm / (std::sqrt(squares) + 1e-6));
    if (factor >= 1) return;
    for (const at::Tensor& grad : grads) {
      float* x = grad.data_ptr<float>();
      for (int64_t i = 0; i < grad.numel(); ++i) x[i] *= factor;
    }
    return;
  }
  const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(grads)));
  at::_foreach_mul_(grads, (max_norm / (norm + 1e-6)).clamp_max(1.0));
}

void Optimizer::step(double lr, const at::Tensor& skip) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> parameters, grads, mean, square, steps;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i].second;
    if (!parameter.grad().defined()) continue;
    parameters.push_back(parameter);
    grads.push_back(parameter.grad());
    mean.push_back(mean_[i]);
    square.push_back(square_[i]);
    steps.push_back(steps_[i]);
  }
  if (parameters.empty()) return;
  const std::optional<at::Tensor> found = skip.defined() ? std::optional(skip) : std::nullopt;
  if (are_arrays(steps)) {
    for (const at::Tensor& count : steps) *count.data_ptr<float>() += 1;
  } else {
    at::_foreach_add_(steps, 1);
  }
  if (decoupled_) {
    at::_fused_adamw_(parameters, grads, mean, square, {}, steps, lr, 0.9, 0.999, weight_decay_,
                      1e-8, false, false, {}, found);
  } else {
    at::_fused_adam_(parameters, grads, mean, square, {}, steps, lr, 0.9, 0.999, weight_decay_,
                     1e-8, false, false, {}, found);
  }
  if (found) at::_foreach_sub_(steps, std::vector<at::Tensor>(steps.size(), skip));
}

NamedTensors Optimizer::state() const {
  NamedTensors out;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::string& name = parameters_[i].first;
    out.emplace_back("mean." + name, mean_[i]);
    out.emplace_back("square." + name, square_[i]);
    out.emplace_back("step." + name, steps_[i]);
  }
  return out;
}

}  // namespace kdgat::train
