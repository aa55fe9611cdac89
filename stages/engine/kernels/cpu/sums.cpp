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
at::Tensor passed(const at::Tensor& given, const BatchTensors& batch, bool back) {
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
                                         0,
                                         0};
    for_blocks(static_cast<int64_t>(blocks.size()) - 1, batch.edges * x.size(1), [&](int64_t b) {
      const auto at = static_cast<std::size_t>(b);
      (back ? table.scatter : table.gather)(args, node_ptr[blocks[at]], node_ptr[blocks[at + 1]]);
    });
  });
  return out;
}

struct NeighbourSum : torch::autograd::Function<NeighbourSum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_NC,
                            const BatchTensors& batch) {
    ctx->saved_data["node_ptr"] = batch.node_ptr_G1;
    ctx->saved_data["in_ptr"] = batch.in_ptr_N1;
    ctx->saved_data["source"] = batch.in_source_E;
    ctx->saved_data["graphs"] = batch.graphs;
    ctx->saved_data["edges"] = batch.edges;
    return passed(x_NC, batch, /*back=*/false);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    BatchTensors batch;
    batch.node_ptr_G1 = ctx->saved_data["node_ptr"].toTensor();
    batch.in_ptr_N1 = ctx->saved_data["in_ptr"].toTensor();
    batch.in_source_E = ctx->saved_data["source"].toTensor();
    batch.graphs = ctx->saved_data["graphs"].toInt();
    batch.edges = ctx->saved_data["edges"].toInt();
    return {passed(grads[0], batch, /*back=*/true), at::Tensor()};
  }
};

at::Tensor neighbour_sum(const at::Tensor& x_NC, const BatchTensors& batch) {
  return NeighbourSum::apply(x_NC, batch);
}

constexpr SumKernels kSums = {neighbour_sum};

}  // namespace

const SumKernels& SumKernels::cpu() { return kSums; }

}  // namespace kdgat::kernels
