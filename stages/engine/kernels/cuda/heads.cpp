#include "engine/kernels/heads.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <optional>

#include "engine/kernels/cuda/device.h"
#include "engine/kernels/cuda/launch/head_launches.h"

namespace kdgat::kernels {

namespace cuda {
namespace {

HeadResult losses(Head head, const at::Tensor& z_NL, const at::Tensor& weight_VL,
                  const at::Tensor& bias_V, const HeadTarget& target, bool with_grad,
                  bool /*in_bfloat16*/) {
  const at::NoGradGuard no_grad;
  const at::Tensor z = z_NL.detach().to(weight_VL.scalar_type());
  const at::Tensor weight = weight_VL.detach(), bias = bias_V.detach();
  std::optional<EdgeTensors> over;
  if (target.batch != nullptr) over.emplace(*target.batch);
  const at::Tensor id = (over ? target.batch->id_N : target.id_N).contiguous();
  HeadResult result;
  result.loss_N = at::empty({z.size(0)}, z.options());
  if (with_grad) {
    result.grad_z = at::empty_like(z);
    result.grad_weight = at::zeros_like(weight);
    result.grad_bias = at::zeros_like(bias);
  }
  const int64_t most = rows_of_logits(weight.size(0), z.size(0));
  const at::Tensor ones = at::ones({std::min(most, z.size(0))}, z.options());
  const OnDevice on(z);
  for (int64_t first = 0; first < z.size(0); first += most) {
    const int64_t rows = std::min(most, z.size(0) - first);
    const at::Tensor z_block = z.narrow(0, first, rows);
    const at::Tensor cells = at::addmm(bias, z_block, weight.t()).contiguous();
    AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "heads", [&] {
      head_rows<scalar_t>(on.launcher(),
                          {first, rows, cells.size(1), head == Head::kSoftmax, over.has_value(),
                           with_grad, id.const_data_ptr<int32_t>(), over ? over->edges() : Edges{},
                           cells.data_ptr<scalar_t>(), result.loss_N.data_ptr<scalar_t>() + first});
    });
    if (!with_grad) continue;
    at::Tensor grad_z = result.grad_z.narrow(0, first, rows);
    at::mm_out(grad_z, cells, weight);
    result.grad_weight.addmm_(cells.t(), z_block);
    result.grad_bias.addmv_(cells.t(), ones.narrow(0, 0, rows));
  }
  return result;
}

}  // namespace
}  // namespace cuda

const HeadKernels& HeadKernels::cuda() {
  static const HeadKernels kHeads = {cuda::losses};
  return kHeads;
}

}  // namespace kdgat::kernels
