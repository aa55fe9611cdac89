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

at::Tensor weighted_sum(const at::Tensor& x_NC, const SumWeights& weights,
                        const BatchTensors& batch) {
  return weighted_around(neighbour_sum, x_NC, weights, batch);
}

constexpr SumKernels kSums = {neighbour_sum, weighted_sum};

}  // namespace

at::Tensor weighted_around(decltype(SumKernels::neighbours) neighbours, const at::Tensor& x_NC,
                           const SumWeights& weights, const BatchTensors& batch) {
  const at::Tensor entering = weights.before_N1 ? x_NC * *weights.before_N1 : x_NC;
  const at::Tensor sum = neighbours(entering, batch);
  return (weights.with_own ? sum + entering : sum) * weights.after_N1;
}

at::Tensor neighbour_counts(const at::Tensor& like, const BatchTensors& batch) {
  const at::Tensor target_E = edge_targets(batch);
  const at::Tensor is_other_E = target_E.ne(batch.in_source_E.to(at::kLong));
  return at::zeros({batch.nodes}, like.options())
      .index_add(0, target_E, is_other_E.to(like.scalar_type()))
      .unsqueeze(1);
}

const SumKernels& SumKernels::plain() { return kSums; }

}  // namespace kdgat::kernels
