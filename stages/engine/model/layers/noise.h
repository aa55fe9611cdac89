// Counter-based noise: a value depends only on hash(seed, layer, step, graph id, local element),
// never on packs, threads or order, so a step may be split and stays the same step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "engine/model/layers/step_count.h"

namespace kdgat::kernels {
struct BatchTensors;
}

namespace kdgat::model {

/// Standard normal numbers [N, width], of the options of batch.x_NF. `layer` names the place in the
/// model that asks.
at::Tensor normal_noise(const kernels::BatchTensors& batch, int64_t width, uint32_t layer);

/// max(x, 0), each element then kept with probability 1-p and scaled by 1/(1-p); p is 0 outside
/// training. Differentiable; on the CPU one bit of each number is kept for backward, on a card the
/// output.
at::Tensor relu_dropout(const at::Tensor& x_NC, double p, uint32_t layer,
                        const kernels::BatchTensors& batch);
/// The same of numbers that the caller is done with: if nobody else holds them either, the result
/// is written over them.
at::Tensor relu_dropout(at::Tensor&& x_NC, double p, uint32_t layer,
                        const kernels::BatchTensors& batch);

/// The same where row g belongs to graph g.
at::Tensor relu_dropout_of_graphs(const at::Tensor& x_GC, double p, uint32_t layer,
                                  const kernels::BatchTensors& batch);

/// What relu_dropout() allocates. `is_last`: nobody reads x after this.
Value count_relu_dropout(StepCount& step, const Value& x, bool is_last);
/// What normal_noise() allocates and returns.
Held count_normal_noise(StepCount& step, double width);

}  // namespace kdgat::model
