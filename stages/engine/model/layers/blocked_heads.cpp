#include "engine/model/layers/blocked_heads.h"

#include <ATen/autocast_mode.h>
#include <torch/autograd.h>

#include "engine/kernels/full_precision.h"
#include "engine/kernels/heads.h"
#include "engine/kernels/kernels_for.h"

namespace kdgat::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::HeadResult run(kernels::Head head, const at::Tensor& z, const at::Tensor& weight,
                        const at::Tensor& bias, const kernels::HeadTarget& target, bool with_grad) {
  const bool in_bfloat16 = at::autocast::is_autocast_enabled(z.device().type()) &&
                           at::autocast::get_autocast_dtype(z.device().type()) == at::kBFloat16;
  const kernels::FullPrecision exact;
  return kernels::kernels_for<kernels::HeadKernels>(z.device())
      .losses(head, z, weight, bias, target, with_grad, in_bfloat16);
}

struct HeadSum : torch::autograd::Function<HeadSum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& z, const at::Tensor& weight,
                            const at::Tensor& bias, kernels::Head head,
                            const kernels::HeadTarget& target) {
    const kernels::HeadResult result = run(head, z, weight, bias, target, true);
    ctx->save_for_backward({result.grad_z, result.grad_weight, result.grad_bias});
    return result.loss_N.sum();
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    return {saved[0] * grads[0], saved[1] * grads[0], saved[2] * grads[0], at::Tensor(),
            at::Tensor()};
  }
};

at::Tensor head_sum(kernels::Head head, const at::Tensor& z, const at::Tensor& weight,
                    const at::Tensor& bias, const kernels::HeadTarget& target) {
  const bool with_grad = at::GradMode::is_enabled() &&
                         (z.requires_grad() || weight.requires_grad() || bias.requires_grad());
  if (with_grad) return HeadSum::apply(z, weight, bias, head, target);
  return run(head, z, weight, bias, target, false).loss_N.sum();
}

}  // namespace

at::Tensor softmax_ce_sum(const at::Tensor& z_NL, const at::Tensor& weight_VL,
                          const at::Tensor& bias_V, const at::Tensor& target_N) {
  return head_sum(kernels::Head::kSoftmax, z_NL, weight_VL, bias_V, {target_N});
}

at::Tensor softmax_ce_per_node(const at::Tensor& z_NL, const at::Tensor& weight_VL,
                               const at::Tensor& bias_V, const at::Tensor& target_N) {
  return run(kernels::Head::kSoftmax, z_NL, weight_VL, bias_V, {target_N}, false).loss_N;
}

at::Tensor bce_neighbour_sum(const at::Tensor& h_NL, const at::Tensor& weight_VL,
                             const at::Tensor& bias_V, const kernels::BatchTensors& batch) {
  return head_sum(kernels::Head::kSigmoid, h_NL, weight_VL, bias_V, {{}, &batch});
}

at::Tensor bce_neighbour_per_node(const at::Tensor& h_NL, const at::Tensor& weight_VL,
                                  const at::Tensor& bias_V, const kernels::BatchTensors& batch) {
  return run(kernels::Head::kSigmoid, h_NL, weight_VL, bias_V, {{}, &batch}, false).loss_N;
}

}  // namespace kdgat::model
