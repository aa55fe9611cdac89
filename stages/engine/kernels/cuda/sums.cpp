#include "engine/kernels/sums.h"

#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include "engine/kernels/cuda/device.h"
#include "engine/kernels/cuda/launch/sums_launches.h"

namespace kdgat::kernels {

namespace cuda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor passed_over(const at::Tensor& from, const EdgeTensors& over, bool back) {
  const at::Tensor x = from.contiguous();
  at::Tensor out = at::empty_like(x);
  const OnDevice on(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "neighbour_sum", [&] {
    neighbour_sum<scalar_t>(
        on.launcher(),
        {over.edges(), x.size(1), x.const_data_ptr<scalar_t>(), out.data_ptr<scalar_t>()}, back);
  });
  return out;
}

struct CardNeighbourSum : torch::autograd::Function<CardNeighbourSum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_NC,
                            const BatchTensors& batch) {
    const EdgeTensors over(batch);
    ctx->save_for_backward(over.tensors);
    return passed_over(x_NC, over, /*back=*/false);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const EdgeTensors over(ctx->get_saved_variables());
    return {passed_over(grads[0], over, /*back=*/true), at::Tensor()};
  }
};

at::Tensor neighbours(const at::Tensor& x_NC, const BatchTensors& batch) {
  return CardNeighbourSum::apply(x_NC, batch);
}

at::Tensor weighted(const at::Tensor& x_NC, const SumWeights& weights, const BatchTensors& batch) {
  return weighted_around(neighbours, x_NC, weights, batch);
}

}  // namespace
}  // namespace cuda

const SumKernels& SumKernels::cuda() {
  static constexpr SumKernels kSums = {cuda::neighbours, cuda::weighted};
  return kSums;
}

}  // namespace kdgat::kernels
