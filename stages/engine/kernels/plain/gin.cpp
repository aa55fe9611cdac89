#include "engine/kernels/gin.h"

#include <ATen/ATen.h>

#include "engine/kernels/full_precision.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/norm.h"
#include "engine/kernels/sums.h"

namespace kdgat::kernels {

namespace {

at::Tensor gin_layer(const at::Tensor& x_NF, const GinWeights& weights, double p, uint32_t layer,
                     const BatchTensors& batch, bool update_running) {
  constexpr double kNoDropout = 0;
  constexpr uint32_t kNoLayer = 0;  // names a place that draws noise; none is drawn
  const NormKernels& norms = kernels_for<NormKernels>(x_NF.device());
  const at::Tensor h_NC =
      at::linear(gin_sums(x_NF, weights.eps, batch), weights.weight_1, weights.bias_1);
  const at::Tensor inner_NC =
      norms.batch_norm(full(h_NC), weights.inner, kNoDropout, kNoLayer, batch, update_running);
  const at::Tensor out_NC = at::linear(inner_NC, weights.weight_2, weights.bias_2);
  return norms.batch_norm(full(out_NC), weights.outer, p, layer, batch, update_running);
}

constexpr GinKernels kGin = {gin_layer};

}  // namespace

at::Tensor gin_sums(const at::Tensor& given_NF, const at::Tensor& eps, const BatchTensors& batch) {
  // Sums stay in the parameters' precision, also under autocast: a node may have many neighbours.
  at::Tensor x_NF = full(given_NF);
  if (!eps.defined()) return x_NF;
  return (1 + eps) * x_NF + kernels_for<SumKernels>(x_NF.device()).neighbours(x_NF, batch);
}

const GinKernels& GinKernels::plain() { return kGin; }

}  // namespace kdgat::kernels
