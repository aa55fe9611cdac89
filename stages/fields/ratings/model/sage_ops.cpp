#include "fields/ratings/model/sage_ops.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <vector>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/parallel.h"
#include "engine/kernels/noise_keys.h"

namespace kdgat::ratings {
namespace {

uint64_t mix(uint64_t z) {  // splitmix64's finaliser
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// Calls body(begin, end) for runs of [0, count) in threads, about four for each: each works
/// through its run of rows a group of columns at a time, so that the rows it reads stay in its
/// cache.
template <class Body>
void for_runs(int64_t count, int64_t least, int64_t work, const Body& body) {
  const int64_t threads = at::get_num_threads();
  const int64_t run =
      threads == 1 ? count : std::max(least, (count + 4 * threads - 1) / (4 * threads));
  if (count == 0) return;
  kernels::for_blocks((count + run - 1) / run, work,
                      [&](int64_t b) { body(b * run, std::min(count, (b + 1) * run)); });
}

int64_t edges_of(const kernels::isa::SageRows& graph) {
  int64_t edges = 0;
  for (int64_t r = 0; r < graph.rows; ++r) {
    const int64_t v = graph.node == nullptr ? r : graph.node[r];
    edges += graph.end[v] - graph.begin[v];
  }
  return edges;
}

/// Edges of the rows: [E] the row, [E] the neighbour.
std::pair<at::Tensor, at::Tensor> edge_lists(const kernels::isa::SageRows& graph) {
  const int64_t edges = edges_of(graph);
  const at::Tensor row = at::empty({edges}, at::kLong), col = at::empty({edges}, at::kLong);
  auto* to_row = row.data_ptr<int64_t>();
  auto* to_col = col.data_ptr<int64_t>();
  for (int64_t r = 0; r < graph.rows; ++r) {
    const int64_t v = graph.node == nullptr ? r : graph.node[r];
    for (int32_t e = graph.begin[v]; e < graph.end[v]; ++e) {
      *to_row++ = r;
      *to_col++ = graph.col[e];
    }
  }
  return {row, col};
}

at::Tensor degrees_of(const at::Tensor& row, int64_t rows, const at::TensorOptions& options) {
  return at::zeros({rows}, options)
      .index_add_(0, row, at::ones({row.size(0)}, options))
      .clamp_min_(1);
}

}  // namespace

uint64_t sage_noise(uint64_t seed, int64_t step, uint64_t layer) {
  return mix(mix(mix(seed) + static_cast<uint64_t>(step)) + layer);
}

void sage_aggregate(SageAggregator kind, const kernels::isa::SageRows& graph, const at::Tensor& h,
                    const at::Tensor& m, const at::Tensor& argmax) {
  AT_DISPATCH_FLOATING_TYPES(h.scalar_type(), "sage_aggregate", [&] {
    const bool is_max = kind == SageAggregator::kMax;
    const kernels::isa::SageArgs<scalar_t> args{graph,
                                                h.const_data_ptr<scalar_t>(),
                                                h.stride(0),
                                                h.size(1),
                                                m.data_ptr<scalar_t>(),
                                                m.stride(0),
                                                is_max ? argmax.data_ptr<int32_t>() : nullptr};
    const kernels::isa::SageTable<scalar_t>& table = kernels::loops<scalar_t>().sage;
    const auto body = is_max ? table.max_rows : table.mean_rows;
    const int64_t work = at::get_num_threads() == 1 ? 0 : edges_of(graph) * h.size(1);
    for_runs(graph.rows, 64, work, [&](int64_t begin, int64_t end) { body(args, begin, end); });
  });
}

void sage_scatter(SageAggregator kind, const kernels::isa::SageRows& graph,
                  const at::Tensor& grad_m, const at::Tensor& argmax, const at::Tensor& grad_h) {
  AT_DISPATCH_FLOATING_TYPES(grad_m.scalar_type(), "sage_scatter", [&] {
    const bool is_max = kind == SageAggregator::kMax;
    const kernels::isa::SageGradArgs<scalar_t> args{
        graph,
        grad_m.const_data_ptr<scalar_t>(),
        grad_m.stride(0),
        grad_m.size(1),
        is_max ? argmax.const_data_ptr<int32_t>() : nullptr,
        grad_h.data_ptr<scalar_t>()};
    const kernels::isa::SageTable<scalar_t>& table = kernels::loops<scalar_t>().sage;
    const auto body = is_max ? table.max_scatter : table.mean_scatter;
    // Threads take columns: the order of a column's sums is always the same.
    const int64_t work = (is_max ? graph.rows : edges_of(graph)) * grad_m.size(1);
    for_runs(grad_m.size(1), 16, work, [&](int64_t begin, int64_t end) { body(args, begin, end); });
  });
}

void sage_activate(const at::Tensor& z, const at::Tensor& h, const at::Tensor& bias,
                   const kernels::isa::SageDrop& drop, double p, const at::Tensor& out) {
  AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "sage_activate", [&] {
    const kernels::isa::SageActivation<scalar_t> args{
        z.const_data_ptr<scalar_t>(),
        h.defined() ? h.const_data_ptr<scalar_t>() : nullptr,
        bias.const_data_ptr<scalar_t>(),
        h.defined() ? h.stride(0) : 0,
        z.size(1),
        drop,
        scalar_t(1 / (1 - p)),
        out.data_ptr<scalar_t>(),
        out.stride(0)};
    for_runs(z.size(0), kernels::kBlockRows, z.numel(), [&](int64_t begin, int64_t end) {
      kernels::loops<scalar_t>().sage.activate(args, begin, end);
    });
  });
}

void sage_activate_grad(const at::Tensor& out, double p, const at::Tensor& grad) {
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "sage_activate_grad", [&] {
    for_runs(out.size(0), kernels::kBlockRows, grad.numel(), [&](int64_t begin, int64_t end) {
      kernels::loops<scalar_t>().sage.activate_grad(out.const_data_ptr<scalar_t>(), out.stride(0),
                                                    out.size(1), scalar_t(1 / (1 - p)),
                                                    grad.data_ptr<scalar_t>(), begin, end);
    });
  });
}

namespace plain {

void sage_aggregate(SageAggregator kind, const kernels::isa::SageRows& graph, const at::Tensor& h,
                    const at::Tensor& m, const at::Tensor& argmax) {
  const auto [row, col] = edge_lists(graph);
  const at::Tensor messages = h.index_select(0, col);
  if (kind == SageAggregator::kMean) {
    const at::Tensor sums = at::zeros(m.sizes(), m.options()).index_add_(0, row, messages);
    m.copy_(sums / degrees_of(row, graph.rows, m.options()).unsqueeze(1));
    return;
  }
  const at::Tensor places = row.unsqueeze(1).expand_as(messages);
  const at::Tensor most = at::zeros(m.sizes(), m.options())
                              .scatter_reduce(0, places, messages, "amax", /*include_self=*/false);
  m.copy_(most);
  // Of those that are the largest the first.
  const at::Tensor is_most = messages.eq(most.index_select(0, row));
  const at::Tensor candidates = at::where(is_most, col.unsqueeze(1).expand_as(messages),
                                          at::scalar_tensor(1L << 40, at::kLong));
  const at::Tensor first =
      at::full(m.sizes(), -1, at::kLong).scatter_reduce(0, places, candidates, "amin", false);
  argmax.copy_(first);
}

void sage_scatter(SageAggregator kind, const kernels::isa::SageRows& graph,
                  const at::Tensor& grad_m, const at::Tensor& argmax, const at::Tensor& grad_h) {
  const auto [row, col] = edge_lists(graph);
  if (kind == SageAggregator::kMean) {
    const at::Tensor each = grad_m / degrees_of(row, graph.rows, grad_m.options()).unsqueeze(1);
    grad_h.index_add_(0, col, each.index_select(0, row));
    return;
  }
  const at::Tensor is_there = argmax.ge(0);
  grad_h.scatter_add_(0, argmax.to(at::kLong).clamp_min(0), grad_m * is_there);
}

}  // namespace plain

}  // namespace kdgat::ratings
