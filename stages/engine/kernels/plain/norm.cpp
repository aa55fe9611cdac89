#include "engine/kernels/norm.h"

#include <torch/autograd.h>

#include <algorithm>
#include <vector>

#include "engine/kernels/noise_keys.h"

namespace kdgat::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The hash of the inner loops (cpu/isa/dropout_hash.h) on tensors of int64.
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

/// Hashes [rows, columns] by tensor operations.
at::Tensor hashes(const BatchTensors& batch, int64_t columns, uint32_t layer, bool of_graphs) {
  const std::vector<isa::DropKey> keys = drop_keys(batch, layer, 0.0);
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

/// A tensor summed over the processes of a step; so is its gradient.
struct SumOverRanks : torch::autograd::Function<SumOverRanks> {
  static at::Tensor joint(const at::Tensor& tensor, graph::Exchange& exchange) {
    const at::Tensor values = tensor.detach().to(at::kCPU, at::kDouble).contiguous().clone();
    exchange.sum({values.data_ptr<double>(), static_cast<std::size_t>(values.numel())});
    return values.to(tensor.options());
  }
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& tensor,
                            graph::Exchange* exchange) {
    ctx->saved_data["exchange"] = reinterpret_cast<int64_t>(exchange);
    return joint(tensor, *exchange);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): autograd keeps numbers, no pointers
    auto* exchange = reinterpret_cast<graph::Exchange*>(ctx->saved_data["exchange"].toInt());
    return {joint(grads[0], *exchange), at::Tensor()};
  }
};

/// The norm alone over the rows of all processes of a step.
at::Tensor batch_norm_over_ranks(const at::Tensor& x_NC, torch::nn::BatchNorm1dImpl& norm,
                                 graph::Exchange& exchange, bool update_running) {
  const at::Tensor rows = at::full({1}, x_NC.size(0), x_NC.options().dtype(at::kDouble));
  const double n = SumOverRanks::joint(rows, exchange).item<double>();
  const at::Tensor mean = SumOverRanks::apply(x_NC.sum(0), &exchange) / n;
  const at::Tensor centred = x_NC - mean;
  const at::Tensor variance = SumOverRanks::apply(centred.square().sum(0), &exchange) / n;
  if (update_running) update_running_statistics(norm, mean.detach(), variance.detach(), n);
  return centred / (variance + norm.options.eps()).sqrt() * norm.weight + norm.bias;
}

at::Tensor mean_pool(const at::Tensor& x_NC, const BatchTensors& batch) {
  const at::Tensor count = at::diff(batch.node_ptr_G1).clamp_min(1).to(x_NC.scalar_type());
  return at::zeros({batch.graphs, x_NC.size(1)}, x_NC.options())
             .index_add(0, node_graphs(batch), x_NC) /
         count.unsqueeze(1);
}

at::Tensor graph_norm_alone(const at::Tensor& x_NC, const GraphNormWeights& norm,
                            const BatchTensors& batch) {
  const at::Tensor graph_N = node_graphs(batch);
  const at::Tensor o = x_NC - mean_pool(x_NC, batch).index_select(0, graph_N) * norm.mean_scale;
  const at::Tensor spread = (mean_pool(o.square(), batch) + kGraphNormEps).sqrt();
  return norm.weight * o / spread.index_select(0, graph_N) + norm.bias;
}

at::Tensor relu_dropout(const at::Tensor& x, double p, uint32_t layer, const BatchTensors& batch,
                        bool of_graphs, bool /*may_overwrite*/) {
  if (p == 0) return at::relu(x);
  const at::Tensor keep =
      hashes(batch, x.size(1), layer, of_graphs).ge(static_cast<int64_t>(drop_threshold(p)));
  return at::relu(x) * keep.to(x.scalar_type()) * (1 / (1 - p));
}

at::Tensor batch_norm(const at::Tensor& x_NC, torch::nn::BatchNorm1dImpl& norm, double p,
                      uint32_t layer, const BatchTensors& batch, bool update_running) {
  const bool training = norm.is_training();
  at::Tensor out;
  if (training && batch.exchange != nullptr) {
    out = batch_norm_over_ranks(x_NC, norm, *batch.exchange, update_running);
  } else {
    const bool uses_running = update_running || !training;
    if (training && update_running) norm.num_batches_tracked += 1;
    out = at::batch_norm(x_NC, norm.weight, norm.bias,
                         uses_running ? norm.running_mean : at::Tensor(),
                         uses_running ? norm.running_var : at::Tensor(), training,
                         norm.options.momentum().value(), norm.options.eps(), true);
  }
  return relu_dropout(out, p, layer, batch, false, false);
}

at::Tensor graph_norm(const at::Tensor& x_NC, const GraphNormWeights& norm, double p,
                      uint32_t layer, const BatchTensors& batch) {
  return relu_dropout(graph_norm_alone(x_NC, norm, batch), p, layer, batch, false, false);
}

at::Tensor uniform(const BatchTensors& batch, int64_t columns, uint32_t layer) {
  return (hashes(batch, columns, layer, false).bitwise_right_shift(7).to(at::kFloat) + 0.5) /
         16777216;
}

constexpr NormKernels kNorm = {batch_norm, graph_norm, relu_dropout, uniform, mean_pool};

}  // namespace

const NormKernels& NormKernels::plain() { return kNorm; }

void update_running_statistics(torch::nn::BatchNorm1dImpl& norm, const at::Tensor& mean,
                               const at::Tensor& variance, double rows) {
  const at::NoGradGuard no_grad;
  const double momentum = norm.options.momentum().value();
  norm.running_mean.mul_(1 - momentum).add_(mean, momentum);
  norm.running_var.mul_(1 - momentum).add_(variance, momentum * rows / std::max(rows - 1, 1.0));
  norm.num_batches_tracked += 1;
}

}  // namespace kdgat::kernels
