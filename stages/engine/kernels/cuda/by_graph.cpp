#include "engine/kernels/cuda/by_graph.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include "engine/kernels/cuda/device.h"
#include "engine/kernels/cuda/launch/norm_launches.h"
#include "engine/kernels/full_precision.h"
#include "engine/kernels/noise_keys.h"

namespace kdgat::kernels::cuda {

Noise noise_of(const BatchTensors& batch, uint32_t layer, double p) {
  return {noise_base(batch, layer), batch.graph_id_G.const_data_ptr<int64_t>(), drop_threshold(p)};
}

GraphRows rows_of_graphs(const at::Tensor& node_ptr, int64_t graphs, int64_t rows,
                         int64_t columns) {
  return {graphs, columns, parts_of_graph(graphs, rows, columns),
          node_ptr.defined() ? node_ptr.const_data_ptr<int32_t>() : nullptr};
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct CardReluDropout : torch::autograd::Function<CardReluDropout> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, double p, uint32_t layer,
                            const BatchTensors& batch, bool of_graphs) {
    const at::Tensor x = input.contiguous();
    at::Tensor out = at::empty_like(x);
    const at::Tensor node_ptr = of_graphs ? at::Tensor() : batch.node_ptr_G1;
    const OnDevice on(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu_dropout", [&] {
      norm_drop<scalar_t>(
          on.launcher(),
          {rows_of_graphs(node_ptr, batch.graphs, x.size(0), x.size(1)), noise_of(batch, layer, p),
           scalar_t(1 / (1 - p)), x.const_data_ptr<scalar_t>(), nullptr, nullptr,
           out.data_ptr<scalar_t>()});
    });
    ctx->save_for_backward({out});
    ctx->saved_data["scale"] = 1 / (1 - p);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor out = ctx->get_saved_variables()[0], grad = grads[0].contiguous();
    const at::Tensor grad_x = at::empty_like(out);
    const OnDevice on(out);
    AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "relu_dropout", [&] {
      drop_grad<scalar_t>(on.launcher(),
                          {out.numel(), scalar_t(ctx->saved_data["scale"].toDouble()),
                           out.const_data_ptr<scalar_t>(), grad.const_data_ptr<scalar_t>(),
                           grad_x.data_ptr<scalar_t>()});
    });
    return {grad_x, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

struct CardMeanPool : torch::autograd::Function<CardMeanPool> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input,
                            const BatchTensors& batch) {
    const at::Tensor x = input.contiguous();
    at::Tensor out = at::empty({batch.graphs, x.size(1)}, x.options());
    const OnDevice on(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "mean_pool", [&] {
      graph_means<scalar_t>(on.launcher(),
                            {rows_of_graphs(batch.node_ptr_G1, batch.graphs, x.size(0), x.size(1)),
                             x.const_data_ptr<scalar_t>(), out.data_ptr<scalar_t>()});
    });
    ctx->save_for_backward({batch.node_ptr_G1});
    ctx->saved_data["nodes"] = x.size(0);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor node_ptr = ctx->get_saved_variables()[0], grad = grads[0].contiguous();
    const int64_t nodes = ctx->saved_data["nodes"].toInt();
    const at::Tensor grad_x = at::empty({nodes, grad.size(1)}, grad.options());
    const OnDevice on(grad);
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "mean_pool", [&] {
      graph_spread<scalar_t>(on.launcher(),
                             {rows_of_graphs(node_ptr, grad.size(0), nodes, grad.size(1)),
                              grad.const_data_ptr<scalar_t>(), grad_x.data_ptr<scalar_t>()});
    });
    return {grad_x, at::Tensor()};
  }
};

/// What the kernels of graph norm read and write, in the order they are saved for backward.
struct GraphNormTensors {
  at::Tensor x, weight, bias, mean_scale, centre, inverse, out, node_ptr;

  template <class T>
  GraphNormArgs<T> args(const Noise& noise, double scale) const {
    return {rows_of_graphs(node_ptr, centre.size(0), x.size(0), x.size(1)),
            noise,
            T(scale),
            T(kGraphNormEps),
            x.const_data_ptr<T>(),
            weight.const_data_ptr<T>(),
            bias.const_data_ptr<T>(),
            mean_scale.const_data_ptr<T>(),
            centre.data_ptr<T>(),
            inverse.data_ptr<T>(),
            out.data_ptr<T>()};
  }
};

struct CardGraphNorm : torch::autograd::Function<CardGraphNorm> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, const at::Tensor& mean_scale, double p,
                            uint32_t layer, const BatchTensors& batch) {
    const at::Tensor x = input.contiguous();
    const at::Tensor centre = at::empty({batch.graphs, x.size(1)}, x.options());
    const GraphNormTensors o{
        x,      weight.contiguous(),    bias.contiguous(), mean_scale.contiguous(),
        centre, at::empty_like(centre), at::empty_like(x), batch.node_ptr_G1};
    const OnDevice on(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "graph_norm", [&] {
      graph_norm(on.launcher(), o.args<scalar_t>(noise_of(batch, layer, p), 1 / (1 - p)));
    });
    ctx->save_for_backward(
        {o.x, o.weight, o.bias, o.mean_scale, o.centre, o.inverse, o.out, o.node_ptr});
    ctx->saved_data["scale"] = 1 / (1 - p);
    return o.out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list s = ctx->get_saved_variables();
    const GraphNormTensors o{s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]};
    const at::Tensor grad = grads[0].contiguous(), grad_x = at::empty_like(o.x);
    const at::Tensor partials = at::empty({o.centre.size(0), 3, o.x.size(1)}, o.x.options());
    const OnDevice on(o.x);
    AT_DISPATCH_FLOATING_TYPES(o.x.scalar_type(), "graph_norm", [&] {
      graph_norm_grad<scalar_t>(on.launcher(),
                                {o.args<scalar_t>(Noise{}, ctx->saved_data["scale"].toDouble()),
                                 grad.const_data_ptr<scalar_t>(), grad_x.data_ptr<scalar_t>(),
                                 partials.data_ptr<scalar_t>()});
    });
    const at::Tensor sums = partials.sum(0);
    return {grad_x, sums[0], sums[1], sums[2], at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor normed_by_graph(const at::Tensor& x_NC, const GraphNormWeights& norm, double p,
                           uint32_t layer, const BatchTensors& batch) {
  return CardGraphNorm::apply(x_NC, norm.weight, norm.bias, norm.mean_scale, p, layer, batch);
}

at::Tensor relu_dropout(const at::Tensor& x, double p, uint32_t layer, const BatchTensors& batch,
                        bool of_graphs, bool /*may_overwrite*/) {
  return CardReluDropout::apply(full(x), p, layer, batch, of_graphs);
}

at::Tensor uniform_noise(const BatchTensors& batch, int64_t columns, uint32_t layer) {
  at::Tensor out = at::empty({batch.nodes, columns}, batch.x_NF.options());
  const OnDevice on(out);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "uniform", [&] {
    uniform<scalar_t>(on.launcher(),
                      {rows_of_graphs(batch.node_ptr_G1, batch.graphs, batch.nodes, columns),
                       noise_of(batch, layer, 0), out.data_ptr<scalar_t>()});
  });
  return out;
}

at::Tensor mean_pool(const at::Tensor& x_NC, const BatchTensors& batch) {
  return CardMeanPool::apply(x_NC, batch);
}

}  // namespace

NormKernels kernels_by_graph() {
  return {nullptr, normed_by_graph, relu_dropout, uniform_noise, mean_pool};
}

}  // namespace kdgat::kernels::cuda
