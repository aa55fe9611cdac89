#include "engine/model/layers/norm.h"

#include "engine/kernels/full_precision.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/norm.h"

namespace kdgat::model {

at::Tensor norm_relu_dropout(const at::Tensor& given_NC, torch::nn::BatchNorm1dImpl& norm, double p,
                             uint32_t layer, const kernels::BatchTensors& batch,
                             bool update_running) {
  const at::Tensor x_NC = kernels::full(given_NC);
  return kernels::kernels_for<kernels::NormKernels>(x_NC.device())
      .batch_norm(x_NC, norm, p, layer, batch, update_running);
}

}  // namespace kdgat::model
