#include "engine/kernels/cpu/by_graph.h"

#include <ATen/Dispatch.h>
#include <ATen/record_function.h>
#include <torch/autograd.h>

#include <algorithm>
#include <vector>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/parallel.h"
#include "engine/kernels/full_precision.h"
#include "engine/kernels/noise_keys.h"

namespace kdgat::kernels::cpu {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Row range of graph g: its nodes, or just row g.
struct Rows {
  const int32_t* node_ptr;
  int64_t begin(int64_t g) const { return node_ptr == nullptr ? g : node_ptr[g]; }
  int64_t count(int64_t g) const { return node_ptr == nullptr ? 1 : node_ptr[g + 1] - node_ptr[g]; }
};

struct ReluDropout : torch::autograd::Function<ReluDropout> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, double p, uint32_t layer,
                            const BatchTensors& batch, bool of_graphs, bool may_overwrite,
                            bool has_backward) {
    RECORD_FUNCTION("kdgat::relu_dropout", std::vector<c10::IValue>{input});
    const at::Tensor x = input.contiguous();
    const bool in_place = may_overwrite && x.is_same(input);
    at::Tensor out = in_place ? input : at::empty_like(x);
    if (in_place) ctx->mark_dirty({input});
    const std::vector<isa::DropKey> keys = drop_keys(batch, layer, p);
    const Rows rows{of_graphs ? nullptr : batch.node_ptr_G1.const_data_ptr<int32_t>()};
    const int64_t columns = x.size(1);
    const std::vector<int64_t> blocks = graph_blocks(batch, kBlockRows);
    // Bits, so that who reads the result last can let it go.
    const int64_t of_row = has_backward ? isa::sign_bytes(columns) : 0;
    const at::Tensor signs = at::empty({x.size(0), of_row}, x.options().dtype(at::kByte));
    uint8_t* const bits = has_backward ? signs.data_ptr<uint8_t>() : nullptr;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu_dropout", [&] {
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      scalar_t* to = out.data_ptr<scalar_t>();
      const isa::NormTable<scalar_t>& table = loops<scalar_t>().norm;
      for_blocks(static_cast<int64_t>(blocks.size()) - 1, x.numel(), [&](int64_t b) {
        const auto at = static_cast<std::size_t>(b);
        for (int64_t g = blocks[at]; g < blocks[at + 1]; ++g) {
          const int64_t first = rows.begin(g);
          table.relu_drop(from + first * columns, rows.count(g), columns,
                          keys[static_cast<std::size_t>(g)], scalar_t(1 / (1 - p)),
                          to + first * columns, bits == nullptr ? bits : bits + first * of_row);
        }
      });
    });
    ctx->save_for_backward({signs});
    ctx->saved_data["scale"] = 1 / (1 - p);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor signs = ctx->get_saved_variables()[0];
    const double scale = ctx->saved_data["scale"].toDouble();
    const at::Tensor grad_x = room_of(grads[0]);
    const at::Tensor grad = grads[0].contiguous();
    const int64_t rows = grad.size(0), columns = grad.size(1);
    const int64_t rows_at_once = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, columns));
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "relu_dropout", [&] {
      const uint8_t* bits = signs.const_data_ptr<uint8_t>();
      const scalar_t* from = grad.const_data_ptr<scalar_t>();
      scalar_t* to = grad_x.data_ptr<scalar_t>();
      const isa::NormTable<scalar_t>& table = loops<scalar_t>().norm;
      for_blocks((rows + rows_at_once - 1) / rows_at_once, grad.numel(), [&](int64_t b) {
        const int64_t first = b * rows_at_once, count = std::min(rows_at_once, rows - first);
        table.relu_drop_backward(bits + first * signs.size(1), from + first * columns, count,
                                 columns, scalar_t(scale), to + first * columns);
      });
    });
    return {grad_x,       at::Tensor(), at::Tensor(), at::Tensor(),
            at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

struct MeanPool : torch::autograd::Function<MeanPool> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input,
                            const BatchTensors& batch) {
    const at::Tensor x = input.contiguous();
    const int64_t columns = x.size(1);
    at::Tensor out = at::empty({batch.graphs, columns}, x.options());
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "mean_pool", [&] {
      for_blocks(batch.graphs, x.numel(), [&](int64_t g) {
        loops<scalar_t>().norm.mean_rows(x.const_data_ptr<scalar_t>(), node_ptr[g], node_ptr[g + 1],
                                         columns, out.data_ptr<scalar_t>() + g * columns);
      });
    });
    ctx->save_for_backward({batch.node_ptr_G1});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor ptr = ctx->get_saved_variables()[0];
    const at::Tensor grad = grads[0].contiguous();
    const int32_t* node_ptr = ptr.const_data_ptr<int32_t>();
    const int64_t graphs = grad.size(0), columns = grad.size(1);
    const at::Tensor grad_x = at::empty({node_ptr[graphs], columns}, grad.options());
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "mean_pool", [&] {
      const scalar_t* from = grad.const_data_ptr<scalar_t>();
      scalar_t* to = grad_x.data_ptr<scalar_t>();
      for_blocks(graphs, grad_x.numel(), [&](int64_t g) {
        loops<scalar_t>().norm.spread_rows(from + g * columns, node_ptr[g], node_ptr[g + 1],
                                           columns, to);
      });
    });
    return {grad_x, at::Tensor()};
  }
};

}  // namespace

at::Tensor room_of(const at::Tensor& grad) {
  const bool is_sole = grad.is_contiguous() && grad.use_count() == 1 &&
                       grad.storage().use_count() == 1 && !at::GradMode::is_enabled();
  return is_sole ? grad : at::empty_like(grad, at::MemoryFormat::Contiguous);
}

at::Tensor relu_dropout(const at::Tensor& x, double p, uint32_t layer, const BatchTensors& batch,
                        bool of_graphs, bool may_overwrite) {
  const at::Tensor input = full(x);
  const bool has_backward = at::GradMode::is_enabled() && input.requires_grad();
  return ReluDropout::apply(input, p, layer, batch, of_graphs, may_overwrite, has_backward);
}

at::Tensor uniform(const BatchTensors& batch, int64_t columns, uint32_t layer) {
  at::Tensor out = at::empty({batch.nodes, columns}, batch.x_NF.options());
  const std::vector<isa::DropKey> keys = drop_keys(batch, layer, 0.0);
  const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "uniform", [&] {
    const isa::NormTable<scalar_t>& table = loops<scalar_t>().norm;
    for_blocks(batch.graphs, out.numel(), [&](int64_t g) {
      const isa::DropKey& key = keys[static_cast<std::size_t>(g)];
      table.uniform(key.low, key.high, (node_ptr[g + 1] - node_ptr[g]) * columns,
                    out.data_ptr<scalar_t>() + node_ptr[g] * columns);
    });
  });
  return out;
}

at::Tensor mean_pool(const at::Tensor& x_NC, const BatchTensors& batch) {
  return MeanPool::apply(x_NC, batch);
}

}  // namespace kdgat::kernels::cpu
