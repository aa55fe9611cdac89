#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/kernels/cpu/by_graph.h"
#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/parallel.h"
#include "engine/kernels/noise_keys.h"

namespace kdgat::kernels::cpu {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct GraphNormReluDropout : torch::autograd::Function<GraphNormReluDropout> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, const at::Tensor& mean_scale, double p,
                            uint32_t layer, const BatchTensors& batch) {
    const at::Tensor x = input.contiguous();
    at::Tensor out = at::empty_like(x);
    const int64_t columns = x.size(1);
    // Of each graph: what is subtracted (mean_scale * mean) and 1 / sqrt(mean square + eps).
    const at::Tensor centre = at::empty({batch.graphs, columns}, x.options());
    const at::Tensor inverse = at::empty_like(centre);
    const std::vector<isa::DropKey> keys = drop_keys(batch, layer, p);
    const std::vector<int64_t> blocks = graph_blocks(batch, kBlockRows);
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "graph_norm", [&] {
      const isa::NormTable<scalar_t>& table = loops<scalar_t>().norm;
      const scalar_t* scale = mean_scale.const_data_ptr<scalar_t>();
      const scalar_t* slope = weight.const_data_ptr<scalar_t>();
      const scalar_t* offset = bias.const_data_ptr<scalar_t>();
      for_blocks(static_cast<int64_t>(blocks.size()) - 1, 3 * x.numel(), [&](int64_t b) {
        std::vector<scalar_t> gain(static_cast<std::size_t>(columns)), shift(gain.size());
        const auto at = static_cast<std::size_t>(b);
        for (int64_t g = blocks[at]; g < blocks[at + 1]; ++g) {
          const int64_t rows = node_ptr[g + 1] - node_ptr[g], first = node_ptr[g] * columns;
          const scalar_t* from = x.const_data_ptr<scalar_t>() + first;
          scalar_t* mid = centre.data_ptr<scalar_t>() + g * columns;
          scalar_t* inv = inverse.data_ptr<scalar_t>() + g * columns;
          table.mean_rows(from, 0, rows, columns, mid);
          for (int64_t c = 0; c < columns; ++c) mid[c] *= scale[c];
          table.column_sums(from, mid, rows, columns, 2, inv);
          for (int64_t c = 0; c < columns; ++c) {
            const auto k = static_cast<std::size_t>(c);
            const auto n = static_cast<scalar_t>(std::max<int64_t>(rows, 1));
            inv[c] = 1 / std::sqrt(inv[c] / n + scalar_t(kGraphNormEps));
            gain[k] = slope[c] * inv[c];
            shift[k] = offset[c] - mid[c] * gain[k];
          }
          table.norm_relu_drop(from, gain.data(), shift.data(), rows, columns,
                               keys[static_cast<std::size_t>(g)], scalar_t(1 / (1 - p)),
                               out.data_ptr<scalar_t>() + first);
        }
      });
    });
    ctx->save_for_backward({x, out, weight, mean_scale, centre, inverse, batch.node_ptr_G1});
    ctx->saved_data["scale"] = 1 / (1 - p);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &out = saved[1], &weight = saved[2], &mean_scale = saved[3],
                     &centre = saved[4], &inverse = saved[5];
    BatchTensors batch;
    batch.node_ptr_G1 = saved[6];
    batch.graphs = batch.node_ptr_G1.size(0) - 1;
    const at::Tensor grad_x = room_of(grads[0]);
    const at::Tensor grad = grads[0].contiguous();
    const int64_t columns = x.size(1);
    const std::vector<int64_t> blocks = graph_blocks(batch, kBlockRows);
    const auto count = static_cast<int64_t>(blocks.size()) - 1;
    const at::Tensor partials = at::zeros({count, 3, columns}, x.options());
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "graph_norm", [&] {
      const isa::NormTable<scalar_t>& table = loops<scalar_t>().norm;
      const auto scale = static_cast<scalar_t>(ctx->saved_data["scale"].toDouble());
      const scalar_t* w = weight.const_data_ptr<scalar_t>();
      const scalar_t* share = mean_scale.const_data_ptr<scalar_t>();
      for_blocks(count, 4 * x.numel(), [&](int64_t b) {
        const auto width = static_cast<std::size_t>(columns);
        std::vector<scalar_t> work(6 * width);
        scalar_t *sum_g = work.data(), *sum_go = sum_g + width, *gain = sum_go + width,
                 *square = gain + width, *shift = square + width, *mean = shift + width;
        scalar_t* grad_weight = partials.data_ptr<scalar_t>() + b * 3 * columns;
        scalar_t *grad_bias = grad_weight + columns, *grad_share = grad_bias + columns;
        const auto at = static_cast<std::size_t>(b);
        for (int64_t g = blocks[at]; g < blocks[at + 1]; ++g) {
          const int64_t rows = node_ptr[g + 1] - node_ptr[g], first = node_ptr[g] * columns;
          const scalar_t* from = x.const_data_ptr<scalar_t>() + first;
          const scalar_t* kept = out.const_data_ptr<scalar_t>() + first;
          const scalar_t* given = grad.const_data_ptr<scalar_t>() + first;
          const scalar_t* mid = centre.const_data_ptr<scalar_t>() + g * columns;
          const scalar_t* inv = inverse.const_data_ptr<scalar_t>() + g * columns;
          const auto n = static_cast<scalar_t>(std::max<int64_t>(rows, 1));
          table.mean_rows(from, 0, rows, columns, mean);
          table.norm_grad_sums(from, mid, kept, given, scale, rows, columns, sum_g, sum_go);
          for (int64_t c = 0; c < columns; ++c) {
            gain[c] = w[c] * inv[c];
            square[c] = gain[c] * inv[c] * inv[c] * sum_go[c] / n;
            // The sum of the gradients of o over the graph's nodes.
            const scalar_t total = gain[c] * sum_g[c] - square[c] * n * (mean[c] - mid[c]);
            shift[c] = share[c] * total / n;
            grad_weight[c] += sum_go[c] * inv[c];
            grad_bias[c] += sum_g[c];
            grad_share[c] -= mean[c] * total;
          }
          table.norm_grad(from, mid, kept, given, scale, gain, square, shift, rows, columns,
                          grad_x.data_ptr<scalar_t>() + first);
        }
      });
    });
    const at::Tensor sums = partials.sum(0);
    return {grad_x, sums[0], sums[1], sums[2], at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor graph_norm(const at::Tensor& x_NC, const GraphNormWeights& norm, double p,
                      uint32_t layer, const BatchTensors& batch) {
  return GraphNormReluDropout::apply(x_NC, norm.weight, norm.bias, norm.mean_scale, p, layer,
                                     batch);
}

}  // namespace kdgat::kernels::cpu
