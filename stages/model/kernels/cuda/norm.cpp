#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include <span>

#include "model/kernels/cuda/by_graph.h"
#include "model/kernels/cuda/device.h"
#include "model/kernels/cuda/launch/norm_launches.h"
#include "model/kernels/norm_function.h"

namespace kdgat::model {

namespace cuda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Sums of a process in doubles become those of a step's; `rows` as well. Waits for the device only
/// where there are other processes.
at::Tensor over_ranks(const at::Tensor& sums, graph::Exchange* exchange, double& rows) {
  if (exchange == nullptr) return sums;
  const at::Tensor all = at::cat({sums.flatten().cpu(), at::full({1}, rows, at::kDouble)});
  exchange->sum({all.data_ptr<double>(), static_cast<std::size_t>(all.numel())});
  rows = all[-1].item<double>();
  return all.slice(0, 0, -1).view(sums.sizes()).to(sums.device());
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
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "norm_relu_dropout", [&] {
      for (int power = 1; training && power <= 2; ++power) {
        const at::Tensor partials = at::empty({row_blocks(rows), columns}, x.options());
        column_sums<scalar_t>(on.launcher(),
                              {rows, columns, x.const_data_ptr<scalar_t>(),
                               power == 1 ? nullptr : mean.const_data_ptr<scalar_t>(),
                               partials.data_ptr<scalar_t>()});
        *all_rows = static_cast<double>(rows);
        const at::Tensor sums =
            over_ranks(partials.sum(0, false, at::kDouble), batch.exchange, *all_rows);
        (power == 1 ? mean : variance).copy_(sums / *all_rows);
      }
      const at::Tensor gain = weight / (variance + eps).sqrt(), shift = bias - mean * gain;
      norm_drop<scalar_t>(on.launcher(),
                          {rows_of_graphs(batch.node_ptr_G1, batch.graphs, rows, columns),
                           noise_of(batch, layer, p), scalar_t(1 / (1 - p)),
                           x.const_data_ptr<scalar_t>(), gain.const_data_ptr<scalar_t>(),
                           shift.const_data_ptr<scalar_t>(), out.data_ptr<scalar_t>()});
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
      const at::Tensor sums = partials.sum(0, false, at::kDouble);
      double n = static_cast<double>(rows);
      const at::Tensor all = mode.training ? over_ranks(sums, mode.exchange, n) : sums;
      const at::Tensor inverse = (saved[4].to(at::kDouble) + mode.eps).rsqrt();
      const at::Tensor gain = weight.to(at::kDouble) * inverse;
      const auto in_type = [&](const at::Tensor& value) { return value.to(x.scalar_type()); };
      const at::Tensor a = in_type(gain), none = at::zeros_like(a);
      const at::Tensor b = mode.training ? in_type(gain * inverse.square() * all[1] / n) : none;
      const at::Tensor c = mode.training ? in_type(gain * all[0] / n) : none;
      args.a = a.const_data_ptr<scalar_t>();
      args.b = b.const_data_ptr<scalar_t>();
      args.c = c.const_data_ptr<scalar_t>();
      args.grad_x = grad_x.data_ptr<scalar_t>();
      norm_grad(on.launcher(), args);
      result[0] = grad_x;
      result[1] = in_type(sums[1] * inverse);
      result[2] = in_type(sums[0]);
    });
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

}  // namespace kdgat::model
