#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include <span>

#include "engine/kernels/cuda/by_graph.h"
#include "engine/kernels/cuda/device.h"
#include "engine/kernels/cuda/launch/norm_launches.h"
#include "engine/kernels/norm_function.h"

namespace kdgat::kernels {

namespace cuda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Sums of the partials of all processes of a step, in doubles; `rows` becomes those of all.
/// Undefined where there are no others: then nothing waits for the device.
at::Tensor over_ranks(const at::Tensor& partials, graph::Exchange* exchange, double& rows) {
  if (exchange == nullptr) return {};
  const at::Tensor sums = partials.sum(0, false, at::kDouble);
  const at::Tensor all = at::cat({sums.flatten().cpu(), at::full({1}, rows, at::kDouble)});
  exchange->sum({all.data_ptr<double>(), static_cast<std::size_t>(all.numel())});
  rows = all[-1].item<double>();
  return all.slice(0, 0, -1).view(sums.sizes()).to(sums.device());
}

const double* doubles_of(const at::Tensor& sums) {
  return sums.defined() ? sums.const_data_ptr<double>() : nullptr;
}

struct CardBatchNorm : torch::autograd::Function<CardBatchNorm> {
  /// `mean` and `variance` [C]: read in eval mode, written in training mode, as are `all_rows`, the
  /// rows they are of.
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, at::Tensor mean, at::Tensor variance,
                            double* all_rows, bool training, double eps, double p, uint32_t layer,
                            const BatchTensors& batch) {
    const at::Tensor x = input.contiguous();
    at::Tensor out = at::empty_like(x);
    const int64_t rows = x.size(0), columns = x.size(1);
    const OnDevice on(x);
    const at::Tensor of_columns = at::empty({2, columns}, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "norm_relu_dropout", [&] {
      scalar_t *gain = of_columns.data_ptr<scalar_t>(), *shift = gain + columns;
      for (const bool is_variance : {false, true}) {
        if (!training && !is_variance) continue;
        const at::Tensor partials =
            at::empty({training ? row_blocks(rows) : 0, columns}, x.options());
        at::Tensor sums;  // where other processes have rows
        double of_rows = -1;
        if (training) {
          column_sums<scalar_t>(on.launcher(),
                                {rows, columns, x.const_data_ptr<scalar_t>(),
                                 is_variance ? mean.const_data_ptr<scalar_t>() : nullptr,
                                 partials.data_ptr<scalar_t>()});
          of_rows = static_cast<double>(rows);
          sums = over_ranks(partials, batch.exchange, of_rows);
          *all_rows = of_rows;
        }
        MomentArgs<scalar_t> args{partials.size(0),
                                  columns,
                                  of_rows,
                                  eps,
                                  partials.const_data_ptr<scalar_t>(),
                                  doubles_of(sums),
                                  (is_variance ? variance : mean).data_ptr<scalar_t>()};
        if (is_variance) {
          args.weight = weight.const_data_ptr<scalar_t>();
          args.bias = bias.const_data_ptr<scalar_t>();
          args.mean = mean.const_data_ptr<scalar_t>();
          args.gain = gain;
          args.shift = shift;
        }
        norm_moment(on.launcher(), args);
      }
      norm_drop<scalar_t>(on.launcher(),
                          {rows_of_graphs(batch.node_ptr_G1, batch.graphs, rows, columns),
                           noise_of(batch, layer, p), scalar_t(1 / (1 - p)),
                           x.const_data_ptr<scalar_t>(), gain, shift, out.data_ptr<scalar_t>()});
    });
    NormMode{training, batch.exchange, eps, 1 / (1 - p)}.save(ctx, x, out, weight, mean, variance);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &out = saved[1], &weight = saved[2], &mean = saved[3];
    const NormMode mode = NormMode::saved(ctx);
    const at::Tensor grad = grads[0].contiguous(), grad_x = at::empty_like(x);
    const int64_t rows = x.size(0), columns = x.size(1);
    const at::Tensor partials = at::empty({row_blocks(rows), 2, columns}, x.options());
    const at::Tensor of_columns = at::empty({3, columns}, x.options());
    const at::Tensor grad_weight = at::empty_like(weight), grad_bias = at::empty_like(weight);
    variable_list result(11);
    const OnDevice on(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "norm_relu_dropout", [&] {
      NormGradArgs<scalar_t> args{rows,
                                  columns,
                                  scalar_t(mode.scale),
                                  x.const_data_ptr<scalar_t>(),
                                  mean.const_data_ptr<scalar_t>(),
                                  out.const_data_ptr<scalar_t>(),
                                  grad.const_data_ptr<scalar_t>(),
                                  partials.data_ptr<scalar_t>()};
      norm_grad_sums(on.launcher(), args);
      double n = static_cast<double>(rows);
      at::Tensor own, all;  // where other processes have rows
      if (mode.training && mode.exchange != nullptr) {
        own = partials.sum(0, false, at::kDouble);
        all = over_ranks(partials, mode.exchange, n);
      }
      scalar_t* factors = of_columns.data_ptr<scalar_t>();
      norm_factors<scalar_t>(
          on.launcher(), {partials.size(0), columns, mode.training ? n : -1, mode.eps,
                          partials.const_data_ptr<scalar_t>(), doubles_of(own), doubles_of(all),
                          weight.const_data_ptr<scalar_t>(), saved[4].const_data_ptr<scalar_t>(),
                          factors, factors + columns, factors + 2 * columns,
                          grad_weight.data_ptr<scalar_t>(), grad_bias.data_ptr<scalar_t>()});
      args.a = factors;
      args.b = factors + columns;
      args.c = factors + 2 * columns;
      args.grad_x = grad_x.data_ptr<scalar_t>();
      norm_grad(on.launcher(), args);
      result[0] = grad_x;
    });
    result[1] = grad_weight;
    result[2] = grad_bias;
    return result;
  }
};

}  // namespace
}  // namespace cuda

const NormKernels& NormKernels::cuda() {
  static const NormKernels kNorm = [] {
    NormKernels out = cuda::kernels_by_graph();
    out.batch_norm = batch_norm_by<cuda::CardBatchNorm>;
    return out;
  }();
  return kNorm;
}

}  // namespace kdgat::kernels
