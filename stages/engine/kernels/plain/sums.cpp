#include "engine/kernels/sums.h"

#include <ATen/ATen.h>

namespace kdgat::kernels {

namespace {

at::Tensor neighbour_sum(const at::Tensor& x_NC, const BatchTensors& batch) {
  const at::Tensor target_E = edge_targets(batch), source_E = batch.in_source_E.to(at::kLong);
  const at::Tensor is_other_E = target_E.ne(source_E).to(x_NC.scalar_type());
  const at::Tensor message_EC = x_NC.index_select(0, source_E) * is_other_E.unsqueeze(1);
  return at::zeros_like(x_NC).index_add(0, target_E, message_EC);
}

constexpr SumKernels kSums = {neighbour_sum};

}  // namespace

const SumKernels& SumKernels::plain() { return kSums; }

}  // namespace kdgat::kernels
