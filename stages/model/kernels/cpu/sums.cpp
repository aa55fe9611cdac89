#include "model/kernels/sums.h"

#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include <vector>

#include "model/kernels/cpu/parallel.h"

namespace kdgat::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Calls visit(target, source) for the edges of each block of graphs; an edge stays in its graph, so
/// blocks write to rows of their own.
template <class Visit>
void for_edges(const BatchTensors& batch, int64_t columns, const Visit& visit) {
  const std::vector<int64_t> blocks = graph_blocks(batch, kBlockRows);
  const auto* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
  const auto* in_ptr = batch.in_ptr_N1.const_data_ptr<int32_t>();
  const auto* source = batch.in_source_E.const_data_ptr<int32_t>();
  for_blocks(static_cast<int64_t>(blocks.size()) - 1, batch.edges * columns, [&](int64_t b) {
    const auto at = static_cast<std::size_t>(b);
    const int32_t last = node_ptr[blocks[at + 1]];
    for (int32_t target = node_ptr[blocks[at]]; target < last; ++target) {
      for (int32_t e = in_ptr[target]; e < in_ptr[target + 1]; ++e) {
        if (source[e] != target) visit(target, source[e]);
      }
    }
  });
}

template <class T>
void add_row(const T* from, T* to, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) to[c] += from[c];
}

/// Rows of `x` at the sources of edges, added up at their targets; or, `back`, the other way round.
at::Tensor passed(const at::Tensor& given, const BatchTensors& batch, bool back) {
  const at::Tensor x = given.contiguous();
  at::Tensor out = at::zeros_like(x);
  const int64_t columns = x.size(1);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "neighbour_sum", [&] {
    const auto* from = x.const_data_ptr<scalar_t>();
    auto* to = out.data_ptr<scalar_t>();
    for_edges(batch, columns, [&](int64_t target, int64_t source) {
      const int64_t read = back ? target : source, written = back ? source : target;
      add_row(from + read * columns, to + written * columns, columns);
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

}  // namespace kdgat::model
