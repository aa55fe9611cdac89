#include "model/layers/noise.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/autograd.h>

#include <vector>

#include "model/kernels/isa.h"
#include "model/kernels/parallel.h"
#include "model/layers/full_precision.h"
#include "model/layers/gat_reference.h"
#include "model/layers/noise_keys.h"

namespace kdgat::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

uint64_t mix(uint64_t z) {  // splitmix64's finaliser
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// kernels' hash on tensors of int64, for devices without kernels.
at::Tensor hash_of(const at::Tensor& element, const at::Tensor& low, const at::Tensor& high) {
  constexpr int64_t kMask = 0xFFFFFFFF;
  at::Tensor x = (element * 0x9E3779B9 + low).bitwise_and(kMask);
  x = x.bitwise_xor(x.bitwise_right_shift(16));
  x = (x * 0x7FEB352D).bitwise_and(kMask);
  x = x.bitwise_xor(high);
  x = x.bitwise_xor(x.bitwise_right_shift(15));
  x = (x * 0x846CA68B).bitwise_and(kMask);
  x = x.bitwise_xor(x.bitwise_right_shift(16));
  return x.bitwise_right_shift(1);
}

/// Row range of graph g: its nodes, or just row g.
struct Rows {
  const int32_t* node_ptr;
  int64_t begin(int64_t g) const { return node_ptr == nullptr ? g : node_ptr[g]; }
  int64_t count(int64_t g) const { return node_ptr == nullptr ? 1 : node_ptr[g + 1] - node_ptr[g]; }
};

struct ReluDropout : torch::autograd::Function<ReluDropout> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, double p, uint32_t layer,
                            const BatchTensors& batch, bool of_graphs) {
    RECORD_FUNCTION("kdgat::relu_dropout", std::vector<c10::IValue>{input});
    const at::Tensor x = input.contiguous();
    at::Tensor out = at::empty_like(x);
    const std::vector<kernels::DropKey> keys = drop_keys(batch, layer, p);
    const Rows rows{of_graphs ? nullptr : batch.node_ptr_G1.const_data_ptr<int32_t>()};
    const int64_t columns = x.size(1);
    const std::vector<int64_t> blocks = graph_blocks(batch, kBlockRows);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu_dropout", [&] {
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      scalar_t* to = out.data_ptr<scalar_t>();
      const auto& table = kernel_table<scalar_t>();
      for_blocks(static_cast<int64_t>(blocks.size()) - 1, x.numel(), [&](int64_t b) {
        const auto at = static_cast<std::size_t>(b);
        for (int64_t g = blocks[at]; g < blocks[at + 1]; ++g) {
          const int64_t first = rows.begin(g) * columns;
          table.relu_drop(from + first, rows.count(g) * columns, keys[static_cast<std::size_t>(g)],
                          scalar_t(1 / (1 - p)), to + first);
        }
      });
    });
    ctx->save_for_backward({out});
    ctx->saved_data["scale"] = 1 / (1 - p);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor out = ctx->get_saved_variables()[0];
    const double scale = ctx->saved_data["scale"].toDouble();
    const at::Tensor grad = grads[0].contiguous();
    const at::Tensor grad_x = at::empty_like(out);
    constexpr int64_t kBlock = 1 << 14;
    AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "relu_dropout", [&] {
      const scalar_t* kept = out.const_data_ptr<scalar_t>();
      const scalar_t* from = grad.const_data_ptr<scalar_t>();
      scalar_t* to = grad_x.data_ptr<scalar_t>();
      const auto& table = kernel_table<scalar_t>();
      for_blocks((out.numel() + kBlock - 1) / kBlock, out.numel(), [&](int64_t b) {
        const int64_t at = b * kBlock, count = std::min(kBlock, out.numel() - at);
        table.relu_drop_backward(kept + at, from + at, count, scalar_t(scale), to + at);
      });
    });
    return {grad_x, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

/// Hashes [rows, columns] by tensor operations.
at::Tensor hashes(const BatchTensors& batch, int64_t columns, uint32_t layer, bool of_graphs) {
  const std::vector<kernels::DropKey> keys = drop_keys(batch, layer, 0.0);
  at::Tensor pairs = at::empty({batch.graphs, 2}, at::kLong);
  auto values = pairs.accessor<int64_t, 2>();
  for (int64_t g = 0; g < batch.graphs; ++g) {
    values[g][0] = keys[static_cast<std::size_t>(g)].low;
    values[g][1] = keys[static_cast<std::size_t>(g)].high;
  }
  pairs = pairs.to(batch.x_NF.device());
  at::Tensor local = at::zeros({batch.graphs}, pairs.options());
  if (!of_graphs) {
    const at::Tensor graph_N = node_graphs(batch);
    local = at::arange(batch.nodes, pairs.options()) -
            batch.node_ptr_G1.to(at::kLong).index_select(0, graph_N);
    pairs = pairs.index_select(0, graph_N);
  }
  const at::Tensor element = local.unsqueeze(1) * columns + at::arange(columns, pairs.options());
  return hash_of(element, pairs.slice(1, 0, 1), pairs.slice(1, 1, 2));
}

at::Tensor apply(const at::Tensor& x, double p, uint32_t layer, const BatchTensors& batch,
                 bool of_graphs) {
  if (x.is_cpu()) return ReluDropout::apply(full(x), p, layer, batch, of_graphs);
  if (p == 0) return at::relu(x);
  const at::Tensor keep =
      hashes(batch, x.size(1), layer, of_graphs).ge(static_cast<int64_t>(drop_threshold(p)));
  return at::relu(x) * keep.to(x.scalar_type()) * (1 / (1 - p));
}

}  // namespace

int32_t drop_threshold(double p) { return static_cast<int32_t>(p * 2147483648.0); }

std::vector<kernels::DropKey> drop_keys(const BatchTensors& batch, uint32_t layer, double p) {
  const at::Tensor ids = batch.graph_id_G.cpu();
  const int64_t* id = ids.const_data_ptr<int64_t>();
  const uint64_t base =
      mix(mix(mix(batch.noise.seed) + static_cast<uint64_t>(batch.noise.step)) + layer);
  std::vector<kernels::DropKey> out(static_cast<std::size_t>(batch.graphs));
  for (std::size_t g = 0; g < out.size(); ++g) {
    const uint64_t key = mix(base ^ mix(static_cast<uint64_t>(id[g])));
    out[g] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), drop_threshold(p)};
  }
  return out;
}

at::Tensor relu_dropout(const at::Tensor& x_NC, double p, uint32_t layer,
                        const BatchTensors& batch) {
  return apply(x_NC, p, layer, batch, false);
}

at::Tensor relu_dropout_of_graphs(const at::Tensor& x_GC, double p, uint32_t layer,
                                  const BatchTensors& batch) {
  return apply(x_GC, p, layer, batch, true);
}

at::Tensor normal_noise(const BatchTensors& batch, int64_t width, uint32_t layer) {
  const at::NoGradGuard no_grad;
  // Box and Muller, both numbers used: columns of radius and angle side by side.
  const int64_t pairs = (width + 1) / 2;
  at::Tensor uniform;
  if (batch.is_cpu()) {
    uniform = at::empty({batch.nodes, 2 * pairs}, batch.x_NF.options());
    const std::vector<kernels::DropKey> keys = drop_keys(batch, layer, 0.0);
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(uniform.scalar_type(), "normal_noise", [&] {
      const auto& table = kernel_table<scalar_t>();
      for_blocks(batch.graphs, uniform.numel(), [&](int64_t g) {
        const kernels::DropKey& key = keys[static_cast<std::size_t>(g)];
        table.uniform(key.low, key.high, int64_t{2} * (node_ptr[g + 1] - node_ptr[g]) * pairs,
                      uniform.data_ptr<scalar_t>() + int64_t{2} * node_ptr[g] * pairs);
      });
    });
  } else {
    uniform = (hashes(batch, 2 * pairs, layer, false).bitwise_right_shift(7).to(at::kFloat) + 0.5) /
              16777216;
  }
  const at::Tensor radius = uniform.slice(1, 0, pairs).log().mul_(-2).sqrt_();
  const at::Tensor angle = uniform.slice(1, pairs).mul(2 * M_PI);
  return at::cat({radius * angle.cos(), radius * angle.sin()}, 1).slice(1, 0, width);
}

}  // namespace kdgat::model
