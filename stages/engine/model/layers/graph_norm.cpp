#include "engine/model/layers/graph_norm.h"

#include "engine/kernels/full_precision.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/norm.h"
#include "engine/model/layers/norm.h"

namespace kdgat::model {

GraphNormImpl::GraphNormImpl(int64_t channels) {
  weight = register_parameter("weight", torch::ones({channels}));
  bias = register_parameter("bias", torch::zeros({channels}));
  mean_scale = register_parameter("mean_scale", torch::ones({channels}));
}

at::Tensor GraphNormImpl::forward(const at::Tensor& given_NC, double p, uint32_t layer,
                                  const kernels::BatchTensors& batch) const {
  const at::Tensor x_NC = kernels::full(given_NC);
  return kernels::kernels_for<kernels::NormKernels>(x_NC.device())
      .graph_norm(x_NC, {weight, bias, mean_scale}, p, layer, batch);
}

Value GraphNormImpl::count(StepCount& step, const Value& x) const {
  return count_norm_relu_dropout(step, x, true, elements_of({weight, bias, mean_scale}));
}

}  // namespace kdgat::model
