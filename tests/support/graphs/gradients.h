// Gradients of autograd against finite differences. Needs torch first.
#pragma once

#include <string>
#include <vector>

#include "support/graphs/batches.h"

namespace kdgat::test {

/// Central differences of sum(f * probe) against the gradients of autograd, in float64.
template <class Call>
void check_gradients(std::vector<at::Tensor> inputs, const Call& call) {
  for (at::Tensor& input : inputs) input.set_requires_grad(true);
  const at::Tensor out = call(inputs);
  const at::Tensor probe = torch::sin(torch::arange(out.numel(), out.options())).view_as(out);
  const auto grads = torch::autograd::grad({(out * probe).sum()}, inputs);
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    at::Tensor numeric = at::empty_like(inputs[i]);
    double* value = inputs[i].data_ptr<double>();
    for (int64_t k = 0; k < inputs[i].numel(); ++k) {
      constexpr double kStep = 1e-6;
      const double kept = value[k];
      value[k] = kept + kStep;
      const double high = (call(inputs) * probe).sum().template item<double>();
      value[k] = kept - kStep;
      const double low = (call(inputs) * probe).sum().template item<double>();
      value[k] = kept;
      numeric.data_ptr<double>()[k] = (high - low) / (2 * kStep);
    }
    check_close(grads[i], numeric, "input " + std::to_string(i), 1e-6, 1e-6);
  }
}

}  // namespace kdgat::test
