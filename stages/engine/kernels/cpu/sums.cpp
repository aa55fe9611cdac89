#include "engine/kernels/sums.h"

#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include <vector>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/parallel.h"

namespace kdgat::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Rows of `x` at the sources of edges, added up at their targets; or, `back`, the other way round.
/// `own`: what a node's own row counts.
at::Tensor passed(const at::Tensor& given, const BatchTensors& batch, bool back, int own = 0) {
  const at::Tensor x = given.contiguous();
  at::Tensor out = back ? at::zeros_like(x) : at::empty_like(x);
  // An edge stays in its graph, so blocks of graphs write to rows of their own.
  const std::vector<int64_t> blocks = graph_blocks(batch, kBlockRows);
  const auto* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "neighbour_sum", [&] {
    const auto& table = loops<scalar_t>().sum;
    const isa::SumArgs<scalar_t> args = {batch.in_ptr_N1.const_data_ptr<int32_t>(),
                                         batch.in_source_E.const_data_ptr<int32_t>(),
                                         x.const_data_ptr<scalar_t>(),
                                         out.data_ptr<scalar_t>(),
                                         x.size(1),
                                         static_cast<scalar_t>(own),
                                         0};
    for_blocks(static_cast<int64_t>(blocks.size()) - 1, batch.edges * x.size(1), [&](int64_t b) {
      const auto at = static_cast<std::size_t>(b);
      (back ? table.scatter : table.gather)(args, node_ptr[blocks[at]], node_ptr[blocks[at + 1]]);
    });
  });
  return out;
}

void save(AutogradContext* ctx, const BatchTensors& batch) {
  ctx->saved_data["node_ptr"] = batch.node_ptr_G1;
  ctx->saved_data["in_ptr"] = batch.in_ptr_N1;
  ctx->saved_data["source"] = batch.in_source_E;
  ctx->saved_data["graphs"] = batch.graphs;
  ctx->saved_data["edges"] = batch.edges;
}

BatchTensors saved(AutogradContext* ctx) {
  BatchTensors batch;
  batch.node_ptr_G1 = ctx->saved_data["node_ptr"].toTensor();
  batch.in_ptr_N1 = ctx->saved_data["in_ptr"].toTensor();
  batch.in_source_E = ctx->saved_data["source"].toTensor();
  batch.graphs = ctx->saved_data["graphs"].toInt();
  batch.edges = ctx->saved_data["edges"].toInt();
  return batch;
}

struct NeighbourSum : torch::autograd::Function<NeighbourSum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_NC,
                            const BatchTensors& batch) {
    save(ctx, batch);
    return passed(x_NC, batch, /*back=*/false);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {passed(grads[0], saved(ctx), /*back=*/true), at::Tensor()};
  }
};

struct WeightedSum : torch::autograd::Function<WeightedSum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_NC, const SumWeights& weights,
                            const BatchTensors& batch) {
    save(ctx, batch);
    ctx->saved_data["before"] = weights.before_N1;
    ctx->saved_data["after"] = weights.after_N1;
    ctx->saved_data["own"] = weights.with_own;
    const at::Tensor entering = weights.before_N1 ? x_NC * *weights.before_N1 : x_NC;
    return passed(entering, batch, /*back=*/false, weights.with_own ? 1 : 0).mul_(weights.after_N1);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    at::Tensor grad = passed(grads[0] * ctx->saved_data["after"].toTensor(), saved(ctx),
                             /*back=*/true, ctx->saved_data["own"].toBool() ? 1 : 0);
    const auto before = ctx->saved_data["before"].toOptional<at::Tensor>();
    if (before) grad.mul_(*before);
    return {grad, at::Tensor(), at::Tensor()};
  }
};

at::Tensor neighbour_sum(const at::Tensor& x_NC, const BatchTensors& batch) {
  return NeighbourSum::apply(x_NC, batch);
}

at::Tensor weighted_sum(const at::Tensor& x_NC, const SumWeights& weights,
                        const BatchTensors& batch) {
  return WeightedSum::apply(x_NC, weights, batch);
}

constexpr SumKernels kSums = {neighbour_sum, weighted_sum};

}  // namespace

const SumKernels& SumKernels::cpu() { return kSums; }

}  // namespace kdgat::kernels
