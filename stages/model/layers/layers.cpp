#include "model/layers/layers.h"

#include <torch/autograd.h>
#include <torch/nn/functional/linear.h>

#include <string>

#include "model/kernels/isa.h"
#include "model/kernels/kernels.h"
#include "model/kernels/parallel.h"
#include "model/layers/full_precision.h"
#include "model/layers/gat_reference.h"
#include "model/layers/norm.h"
#include "model/layers/recompute.h"

namespace kdgat::model {

namespace {

struct MeanPool : torch::autograd::Function<MeanPool> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& input,
                            const BatchTensors& batch) {
    const at::Tensor x = input.contiguous();
    const int64_t columns = x.size(1);
    at::Tensor out = at::empty({batch.graphs, columns}, x.options());
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "mean_pool", [&] {
      for_blocks(batch.graphs, x.numel(), [&](int64_t g) {
        kernel_table<scalar_t>().mean_rows(x.const_data_ptr<scalar_t>(), node_ptr[g],
                                           node_ptr[g + 1], columns,
                                           out.data_ptr<scalar_t>() + g * columns);
      });
    });
    ctx->save_for_backward({batch.node_ptr_G1});
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& grads) {
    const at::Tensor ptr = ctx->get_saved_variables()[0];
    const at::Tensor grad = grads[0].contiguous();
    const int32_t* node_ptr = ptr.const_data_ptr<int32_t>();
    const int64_t graphs = grad.size(0), columns = grad.size(1);
    const at::Tensor grad_x = at::empty({node_ptr[graphs], columns}, grad.options());
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "mean_pool", [&] {
      const scalar_t* from = grad.const_data_ptr<scalar_t>();
      scalar_t* to = grad_x.data_ptr<scalar_t>();
      for_blocks(graphs, grad_x.numel(), [&](int64_t g) {
        kernel_table<scalar_t>().spread_rows(from + g * columns, node_ptr[g], node_ptr[g + 1],
                                             columns, to);
      });
    });
    return {grad_x, at::Tensor()};
  }
};

}  // namespace

BlockImpl::BlockImpl(int64_t inputs, int64_t width, int64_t heads, double dropout,
                     const std::string& norm_kind)
    : dropout_(dropout) {
  conv = register_module(
      "conv", GatConv(inputs, heads > 0 && width % heads == 0 ? width / heads : width, heads));
  if (norm_kind == "graph") {
    graph_norm = register_module("norm", GraphNorm(conv->width()));
  } else {
    norm = register_module("norm", torch::nn::BatchNorm1d(conv->width()));
  }
}

at::Tensor BlockImpl::forward(const at::Tensor& x_NF, const BatchTensors& batch, uint32_t layer,
                              bool checkpointing) {
  const auto body = [this, batch, layer](const at::Tensor& x, bool first) {
    const double p = is_training() ? dropout_ : 0.0;
    const at::Tensor h = conv->forward(x, batch);
    return graph_norm ? graph_norm_relu_dropout(h, *graph_norm, p, layer, batch)
                      : norm_relu_dropout(h, *norm, p, layer, batch, first);
  };
  if (!checkpointing || !is_training()) return body(x_NF, true);
  return checkpoint(x_NF, parameters(), body);
}

PerceptronImpl::PerceptronImpl(int64_t width, int64_t outputs, int64_t layers, double dropout)
    : dropout_(dropout) {
  for (int64_t i = 0; i < layers; ++i) {
    linears_.push_back(register_module(std::to_string(3 * i),
                                       torch::nn::Linear(width, i + 1 < layers ? width : outputs)));
  }
}

at::Tensor PerceptronImpl::hidden(at::Tensor x, const BatchTensors& batch, uint32_t layer,
                                  bool of_graphs) {
  const double p = is_training() ? dropout_ : 0.0;
  const auto drop = of_graphs ? relu_dropout_of_graphs : relu_dropout;
  for (std::size_t i = 0; i + 1 < linears_.size(); ++i) {
    x = drop(linears_[i]->forward(x), p, layer + static_cast<uint32_t>(i), batch);
  }
  return x;
}

at::Tensor mean_pool(const at::Tensor& given_NC, const BatchTensors& batch) {
  const at::Tensor x_NC = full(given_NC);
  if (x_NC.is_cpu()) return MeanPool::apply(x_NC, batch);
  const at::Tensor count = at::diff(batch.node_ptr_G1).clamp_min(1).to(x_NC.scalar_type());
  return at::zeros({batch.graphs, x_NC.size(1)}, x_NC.options())
             .index_add(0, node_graphs(batch), x_NC) /
         count.unsqueeze(1);
}

}  // namespace kdgat::model
