#include "engine/model/layers/blocked_heads.h"

#include <ATen/autocast_mode.h>
#include <torch/autograd.h>

#include <algorithm>
#include <cmath>

#include "engine/kernels/full_precision.h"
#include "engine/kernels/heads.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/products.h"

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

void count_head(StepCount& step, const Value& z, const torch::nn::Linear& layer) {
  Tape& tape = step.tape;
  const FootprintOptions& options = step.options;
  const int64_t num_ids = layer->options.out_features();
  const std::vector<double> parameters = elements_of({layer->weight, layer->bias});
  const auto nodes = static_cast<double>(options.nodes);
  const auto once = [&tape](double columns) { return tape.hold(floats(kOnce, columns)); };
  Held grad_z, grad_weight, grad_bias;
  if (step.counts.head_copies > 0) {
    const auto most = static_cast<double>(kernels::rows_of_logits(num_ids, options.nodes));
    const double rows = nodes > 0 ? std::min(nodes, most) : most;
    const Held losses = tape.hold(kNodes * kFloat);
    grad_z = tape.hold(z.bytes());
    grad_weight = once(parameters[0]);
    grad_bias = once(parameters[1]);
    const Held logits = once(rows * parameters[1] * step.counts.head_copies);
    if (step.counts.copies_head_gradient) once(rows * z.width);
  } else {
    // Of engine/kernels/cpu/heads.cpp.
    constexpr double kRowsOfHead = 60, kRowsOfGroup = 1024, kMostGroups = 16;
    const double columns = 64 * std::ceil(static_cast<double>(num_ids) / 64);
    const double weights = (z.width + 1) * columns;
    const Held padded = once(weights), loss = tape.hold(kNodes * kFloat);
    // Factors as pairs of bfloat16, of the weights twice, where the processor has products of them.
    constexpr int64_t kManyRows = 1000;
    const bool is_rounded =
        options.precision == "bf16-mixed" && kernels::ProductKernels::cpu().rounds(kManyRows, 1);
    const Held pairs = once(is_rounded ? weights : 0);
    grad_z = tape.hold(z.bytes());
    // Groups of rows sum weight gradients of their own; a thread computes one at a time.
    const double groups = std::clamp<double>(std::floor(nodes / kRowsOfGroup), 1, kMostGroups);
    const Held sums = tape.hold(
        floats(nodes > 0 ? kOnce * groups : kOnce + kNodes * (1 / kRowsOfGroup), weights));
    const auto threads = static_cast<double>(options.threads);
    const double spaces = nodes > 0 ? std::min(threads, groups) : threads;
    const double copies = is_rounded ? 2 : 1;
    once(spaces * kRowsOfHead * copies * (columns + z.width + 3));
    grad_weight = once(parameters[0]);
    grad_bias = once(weights);  // a row of all sums
  }
  tape.then(step.term(),
            [&tape, z = z.without_data(), grad_z, grad_weight, grad_bias, parameters](const Held&) {
              tape.give(z);
              tape.parameters(parameters);
            });
}

}  // namespace kdgat::model
