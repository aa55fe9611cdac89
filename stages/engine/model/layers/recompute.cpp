#include "engine/model/layers/recompute.h"

#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <torch/autograd.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <utility>

namespace kdgat::model {

namespace {

using torch::autograd::variable_list;

struct Body : torch::CustomClassHolder {
  std::function<at::Tensor(const at::Tensor&, bool)> call;
  at::ThreadLocalState state;  ///< of the caller: gradients on, autocast and its type as they were
};

/// No cache of weights in 16 bits: what is cached while gradients are off, as in the first pass,
/// has none, and what is cached in backward would outlive the step.
class NoWeightCache {
 public:
  NoWeightCache() { at::autocast::set_autocast_cache_enabled(false); }
  NoWeightCache(const NoWeightCache&) = delete;
  NoWeightCache& operator=(const NoWeightCache&) = delete;
  ~NoWeightCache() { at::autocast::set_autocast_cache_enabled(before_); }

 private:
  bool before_ = at::autocast::is_autocast_cache_enabled();
};

struct Recompute : torch::autograd::Function<Recompute> {
  // A list of another type would lose the parameters' gradients where the input needs none.
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& input,
                            at::TensorList parameters, const c10::intrusive_ptr<Body>& body) {
    variable_list kept = parameters.vec();
    kept.push_back(input);
    ctx->save_for_backward(std::move(kept));
    ctx->saved_data["body"] = c10::IValue::make_capsule(body);
    const NoWeightCache no_cache;
    return body->call(input, true);
  }

  static variable_list backward(torch::autograd::AutogradContext* ctx, const variable_list& grads) {
    variable_list wanted = ctx->get_saved_variables();
    const at::Tensor input = wanted.back();
    wanted.pop_back();
    const bool input_needs_grad = input.requires_grad();
    const at::Tensor x = input.detach().requires_grad_(input_needs_grad);
    if (input_needs_grad) wanted.push_back(x);

    at::Tensor out;
    {
      const auto held = ctx->saved_data["body"].toCapsule();
      auto& body = static_cast<Body&>(*held);
      const at::ThreadLocalStateGuard as_before(body.state);
      const NoWeightCache no_cache;
      out = body.call(x, false);
    }

    variable_list result =
        torch::autograd::grad({out}, wanted, {grads[0]}, std::nullopt, false, true);
    if (!input_needs_grad) result.emplace_back();
    std::rotate(result.begin(), result.end() - 1, result.end());  // the input's comes first
    result.emplace_back();                                        // of body
    return result;
  }
};

}  // namespace

at::Tensor checkpoint(const at::Tensor& input, const std::vector<at::Tensor>& parameters,
                      std::function<at::Tensor(const at::Tensor&, bool)> body) {
  if (!at::GradMode::is_enabled()) return body(input, true);
  const auto held = c10::make_intrusive<Body>();
  held->call = std::move(body);
  return Recompute::apply(input, at::TensorList(parameters), held);
}

}  // namespace kdgat::model
