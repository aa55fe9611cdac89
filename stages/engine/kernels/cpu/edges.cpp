#include "engine/kernels/edges.h"

#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include <vector>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/parallel.h"

namespace kdgat::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Rows = std::optional<at::Tensor>;

/// What an operation reads and makes, in the order that it is saved in.
struct EdgeOperands {
  at::Tensor node_ptr, in_ptr, source;
  at::Tensor own, of_node, value, e;  ///< undefined where there is none
  at::Tensor alpha, least, largest, out;

  EdgeOperands(const BatchTensors& batch, const at::Tensor& of_source, const Rows& edges)
      : node_ptr(batch.node_ptr_G1),
        in_ptr(batch.in_ptr_N1),
        source(batch.in_source_E),
        of_node(of_source.contiguous()) {
    if (edges) e = edges->contiguous();
  }
  explicit EdgeOperands(const variable_list& saved)
      : node_ptr(saved[0]),
        in_ptr(saved[1]),
        source(saved[2]),
        own(saved[3]),
        of_node(saved[4]),
        value(saved[5]),
        e(saved[6]),
        alpha(saved[7]),
        least(saved[8]),
        largest(saved[9]),
        out(saved[10]) {}
  variable_list saved(bool with_out) const {
    return {node_ptr,
            in_ptr,
            source,
            own,
            of_node,
            value,
            e,
            alpha,
            least,
            largest,
            with_out ? out : at::Tensor()};
  }

  template <class T>
  isa::EdgeArgs<T> arguments(int64_t heads) const {
    const auto read = [](const at::Tensor& rows) {
      return rows.defined() ? rows.const_data_ptr<T>() : nullptr;
    };
    const auto edge_of = [](const at::Tensor& rows) {
      return rows.defined() ? rows.data_ptr<int32_t>() : nullptr;
    };
    isa::EdgeArgs<T> a{};
    a.in_ptr = in_ptr.const_data_ptr<int32_t>();
    a.source = source.const_data_ptr<int32_t>();
    a.own = read(own);
    a.of_node = read(of_node);
    a.value = read(value);
    a.e = read(e);
    a.columns = of_node.size(1);
    a.heads = heads;
    a.alpha = alpha.defined() ? alpha.data_ptr<T>() : nullptr;
    a.least = edge_of(least);
    a.largest = edge_of(largest);
    a.out = out.defined() ? out.data_ptr<T>() : nullptr;
    return a;
  }

  /// Calls body(first, last) for the nodes of runs of whole graphs, which no edge leaves.
  template <class Body>
  void for_graphs(const Body& body) const {
    BatchTensors batch;
    batch.node_ptr_G1 = node_ptr;
    batch.graphs = node_ptr.size(0) - 1;
    const std::vector<int64_t> blocks = graph_blocks(batch, kBlockRows);
    const int32_t* ptr = node_ptr.const_data_ptr<int32_t>();
    const int64_t work = (of_node.size(0) + source.size(0)) * of_node.size(1);
    for_blocks(static_cast<int64_t>(blocks.size()) - 1, work, [&](int64_t b) {
      const auto at = static_cast<std::size_t>(b);
      body(ptr[blocks[at]], ptr[blocks[at + 1]]);
    });
  }
};

/// Calls loop(table)(arguments) forward for all nodes.
template <class Loop>
void forward_over(const EdgeOperands& o, int64_t heads, const Loop& loop) {
  AT_DISPATCH_FLOATING_TYPES(o.of_node.scalar_type(), "edges", [&] {
    const auto args = o.arguments<scalar_t>(heads);
    const auto& table = loops<scalar_t>().edge;
    o.for_graphs([&](int64_t begin, int64_t end) { loop(table)(args, begin, end); });
  });
}

struct EdgeGradients {
  at::Tensor own, of_node, value, e, score;
};

/// The same backward, with room for the gradient of each that is there.
template <class Loop>
EdgeGradients backward_over(const EdgeOperands& o, const at::Tensor& grad, int64_t heads,
                            const Loop& loop) {
  const auto room = [](const at::Tensor& rows) {
    return rows.defined() ? at::empty_like(rows) : at::Tensor();
  };
  EdgeGradients out{room(o.own), room(o.of_node), room(o.value), room(o.e), room(o.alpha)};
  const at::Tensor given = grad.contiguous();
  AT_DISPATCH_FLOATING_TYPES(o.of_node.scalar_type(), "edges", [&] {
    const auto write = [](const at::Tensor& rows) {
      return rows.defined() ? rows.data_ptr<scalar_t>() : nullptr;
    };
    const isa::EdgeGradArgs<scalar_t> args = {o.arguments<scalar_t>(heads),
                                              given.const_data_ptr<scalar_t>(),
                                              write(out.own),
                                              write(out.of_node),
                                              write(out.value),
                                              write(out.e),
                                              write(out.score)};
    const auto& table = loops<scalar_t>().edge;
    o.for_graphs([&](int64_t begin, int64_t end) { loop(table)(args, begin, end); });
  });
  return out;
}

struct ReluSums : torch::autograd::Function<ReluSums> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_NC, const at::Tensor& e_EC,
                            const BatchTensors& batch) {
    EdgeOperands o(batch, x_NC, e_EC);
    o.out = at::empty_like(o.of_node);
    forward_over(o, 1, [](const auto& table) { return table.relu_sums; });
    ctx->save_for_backward(o.saved(/*with_out=*/false));
    return o.out;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const EdgeGradients g =
        backward_over(EdgeOperands(ctx->get_saved_variables()), grads[0], 1,
                      [](const auto& table) { return table.relu_sums_backward; });
    return {g.of_node, g.e, at::Tensor()};
  }
};

struct EdgeAttention : torch::autograd::Function<EdgeAttention> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q_NC, const at::Tensor& k_NC,
                            const at::Tensor& v_NC, const Rows& e_EC, int64_t heads,
                            const BatchTensors& batch) {
    EdgeOperands o(batch, k_NC, e_EC);
    o.own = q_NC.contiguous();
    o.value = v_NC.contiguous();
    o.alpha = at::empty({batch.edges, heads}, q_NC.options());
    o.out = at::empty_like(o.own);
    forward_over(o, heads, [](const auto& table) { return table.attention; });
    ctx->saved_data["heads"] = heads;
    ctx->save_for_backward(o.saved(/*with_out=*/false));
    return o.out;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const EdgeGradients g = backward_over(
        EdgeOperands(ctx->get_saved_variables()), grads[0], ctx->saved_data["heads"].toInt(),
        [](const auto& table) { return table.attention_backward; });
    return {g.own, g.of_node, g.value, g.e, at::Tensor(), at::Tensor()};
  }
};

struct EdgeStatistics : torch::autograd::Function<EdgeStatistics> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& l_NC, const at::Tensor& r_NC,
                            const Rows& e_EC, const BatchTensors& batch) {
    EdgeOperands o(batch, l_NC, e_EC);
    o.own = r_NC.contiguous();
    const int64_t nodes = l_NC.size(0), columns = l_NC.size(1);
    o.least = at::empty({nodes, columns}, l_NC.options().dtype(at::kInt));
    o.largest = at::empty_like(o.least);
    o.out = at::empty({nodes, 4 * columns}, l_NC.options());
    forward_over(o, 1, [](const auto& table) { return table.statistics; });
    ctx->save_for_backward(o.saved(/*with_out=*/true));
    return o.out;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const EdgeGradients g =
        backward_over(EdgeOperands(ctx->get_saved_variables()), grads[0], 1,
                      [](const auto& table) { return table.statistics_backward; });
    return {g.of_node, g.own, g.e, at::Tensor()};
  }
};

at::Tensor relu_sums(const at::Tensor& x_NC, const at::Tensor& e_EC, const BatchTensors& batch) {
  return ReluSums::apply(x_NC, e_EC, batch);
}

at::Tensor attention(const at::Tensor& q_NC, const at::Tensor& k_NC, const at::Tensor& v_NC,
                     const Rows& e_EC, int64_t heads, const BatchTensors& batch) {
  return EdgeAttention::apply(q_NC, k_NC, v_NC, e_EC, heads, batch);
}

at::Tensor statistics(const at::Tensor& l_NC, const at::Tensor& r_NC, const Rows& e_EC,
                      const BatchTensors& batch) {
  return EdgeStatistics::apply(l_NC, r_NC, e_EC, batch);
}

constexpr EdgeKernels kEdgeKernels = {relu_sums, attention, statistics};

}  // namespace

const EdgeKernels& EdgeKernels::cpu() { return kEdgeKernels; }

}  // namespace kdgat::kernels
