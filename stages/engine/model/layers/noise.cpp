#include "engine/model/layers/noise.h"

#include <ATen/ATen.h>

#include <cmath>
#include <utility>

#include "engine/kernels/kernels_for.h"
#include "engine/kernels/norm.h"
#include "engine/model/layers/count_plain.h"

namespace kdgat::model {

at::Tensor relu_dropout(const at::Tensor& x_NC, double p, uint32_t layer,
                        const kernels::BatchTensors& batch) {
  return kernels::kernels_for<kernels::NormKernels>(x_NC.device())
      .relu_dropout(x_NC, p, layer, batch, false, false);
}

at::Tensor relu_dropout(at::Tensor&& x_NC, double p, uint32_t layer,
                        const kernels::BatchTensors& batch) {
  const at::Tensor x = std::move(x_NC);
  const bool is_sole = x.use_count() == 1 && x.storage().use_count() == 1;
  return kernels::kernels_for<kernels::NormKernels>(x.device())
      .relu_dropout(x, p, layer, batch, false, is_sole);
}

at::Tensor relu_dropout_of_graphs(const at::Tensor& x_GC, double p, uint32_t layer,
                                  const kernels::BatchTensors& batch) {
  return kernels::kernels_for<kernels::NormKernels>(x_GC.device())
      .relu_dropout(x_GC, p, layer, batch, true, false);
}

at::Tensor normal_noise(const kernels::BatchTensors& batch, int64_t width, uint32_t layer) {
  const at::NoGradGuard no_grad;
  // Box and Muller, both numbers used: columns of radius and angle side by side.
  const int64_t pairs = (width + 1) / 2;
  const at::Tensor uniform = kernels::kernels_for<kernels::NormKernels>(batch.x_NF.device())
                                 .uniform(batch, 2 * pairs, layer);
  const at::Tensor radius = uniform.slice(1, 0, pairs).log().mul_(-2).sqrt_();
  const at::Tensor angle = uniform.slice(1, pairs).mul(2 * M_PI);
  return at::cat({radius * angle.cos(), radius * angle.sin()}, 1).slice(1, 0, width);
}

Value count_relu_dropout(StepCount& step, const Value& x, bool is_last) {
  if (step.is_plain()) return plain_relu_dropout(step.tape, x);
  Value y = x;
  y.grad = std::make_shared<Held>();
  if (!is_last || !step.counts.writes_over) y.data = step.tape.hold(y.bytes());
  const Held kept =
      step.counts.keeps_signs ? step.tape.hold(y.rows * std::ceil(y.width / 8)) : y.data;
  step.tape.then(y, [&step, x = x.without_data(), kept](const Held& grad) {
    step.tape.pass(x, step.room_of(grad, x));
  });
  return y;
}

Held count_normal_noise(StepCount& step, double width) {
  step.tape.hold(floats(kNodes, 4.5 * width));  // uniforms, radius, angle, ...
  return step.tape.hold(floats(kNodes, width));
}

}  // namespace kdgat::model
