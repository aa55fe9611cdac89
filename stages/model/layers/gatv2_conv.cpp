#include "model/layers/gatv2_conv.h"

#include <torch/autograd.h>

#include "kdgat/error.h"
#include "model/kernels/isa.h"
#include "model/kernels/kernels.h"
#include "model/kernels/parallel.h"
#include "model/layers/attention.h"
#include "model/layers/full_precision.h"
#include "model/layers/gat_reference.h"
#include "model/layers/init.h"

namespace kdgat::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What the kernels read and write, in the order they are saved for backward.
struct Operands {
  at::Tensor l, r, edge_attr, lin_edge_t, att, bias, in_ptr, in_source, alpha, out;

  template <class T>
  kernels::Gatv2Args<T> arguments() const {
    kernels::Gatv2Args<T> a{};
    a.l = l.const_data_ptr<T>();
    a.r = r.const_data_ptr<T>();
    a.edge_attr = edge_attr.const_data_ptr<T>();
    a.lin_edge = lin_edge_t.const_data_ptr<T>();
    a.att = att.const_data_ptr<T>();
    a.bias = bias.const_data_ptr<T>();
    a.in_ptr = in_ptr.const_data_ptr<int32_t>();
    a.in_source = in_source.const_data_ptr<int32_t>();
    a.heads = att.size(-2);
    a.channels = att.size(-1);
    a.features = edge_attr.size(1);
    a.edges = edge_attr.size(0);
    a.slope = T(kAttentionSlope);
    a.alpha = alpha.data_ptr<T>();
    a.out = out.data_ptr<T>();
    return a;
  }
  int64_t features() const { return edge_attr.size(1); }
  int64_t row() const { return l.size(1) + features(); }
  int64_t work() const { return l.numel() + edge_attr.size(0) * l.size(1) * features(); }
};

struct Gatv2Attention : torch::autograd::Function<Gatv2Attention> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& l, const at::Tensor& r,
                            const at::Tensor& lin_edge, const at::Tensor& att,
                            const at::Tensor& bias, const BatchTensors& batch) {
    const Operands o{l,
                     r,
                     batch.edge_attr_ED.to(l.scalar_type()).contiguous(),
                     lin_edge.t().contiguous(),
                     att,
                     bias,
                     batch.in_ptr_N1,
                     batch.in_source_E,
                     at::empty({batch.edges + batch.nodes, att.size(-2)}, l.options()),
                     at::empty_like(l)};
    const std::vector<int64_t> blocks = graph_blocks(batch, kAttentionBlock);
    const auto count = static_cast<int64_t>(blocks.size()) - 1;
    const at::Tensor rows = at::empty({count, o.row()}, l.options());
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(l.scalar_type(), "gatv2_attention", [&] {
      const auto args = o.arguments<scalar_t>();
      const auto& table = kernel_table<scalar_t>();
      for_blocks(count, o.work(), [&](int64_t b) {
        table.gatv2_forward(args, node_ptr[blocks[static_cast<std::size_t>(b)]],
                            node_ptr[blocks[static_cast<std::size_t>(b) + 1]],
                            rows.data_ptr<scalar_t>() + b * o.row());
      });
    });
    ctx->save_for_backward({o.l, o.r, o.edge_attr, o.lin_edge_t, o.att, o.bias, o.in_ptr,
                            o.in_source, o.alpha, o.out, batch.node_ptr_G1});
    return o.out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list s = ctx->get_saved_variables();
    const Operands o{s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]};
    BatchTensors batch;
    batch.node_ptr_G1 = s[10];
    batch.graphs = batch.node_ptr_G1.size(0) - 1;
    const at::Tensor grad_out = grads[0].contiguous();
    const at::Tensor grad_l = at::empty_like(o.l), grad_r = at::empty_like(o.r);
    const std::vector<int64_t> blocks = graph_blocks(batch, kAttentionBlock);
    const auto count = static_cast<int64_t>(blocks.size()) - 1;
    const int64_t width = o.l.size(1), share = (2 + o.features()) * width;
    const at::Tensor rows = at::empty({count, o.row()}, o.l.options());
    const at::Tensor partials = at::empty({count, 2 + o.features(), width}, o.l.options());
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(o.l.scalar_type(), "gatv2_attention", [&] {
      kernels::Gatv2GradArgs<scalar_t> args{};
      args.forward = o.arguments<scalar_t>();
      args.grad_out = grad_out.const_data_ptr<scalar_t>();
      args.grad_l = grad_l.data_ptr<scalar_t>();
      args.grad_r = grad_r.data_ptr<scalar_t>();
      const auto& table = kernel_table<scalar_t>();
      for_blocks(count, 2 * o.work(), [&](int64_t b) {
        table.gatv2_backward(args, node_ptr[blocks[static_cast<std::size_t>(b)]],
                             node_ptr[blocks[static_cast<std::size_t>(b) + 1]],
                             rows.data_ptr<scalar_t>() + b * o.row(),
                             partials.data_ptr<scalar_t>() + b * share);
      });
    });
    const at::Tensor sums = partials.sum(0);
    return {grad_l, grad_r, sums.slice(0, 2).t(), sums[0].view_as(o.att), sums[1], at::Tensor()};
  }
};

}  // namespace

GatV2ConvImpl::GatV2ConvImpl(int64_t inputs, int64_t channels, int64_t heads, int64_t edge_features)
    : channels_(channels), heads_(heads) {
  if (heads < 1 || heads > kernels::kMaxHeads || channels < 1) {
    throw Error(ExitCode::kUsage, "attention with " + std::to_string(heads) + " heads of " +
                                      std::to_string(channels) + " channels: 1 to " +
                                      std::to_string(kernels::kMaxHeads) + " heads are possible");
  }
  const int64_t width = heads * channels;
  lin_l = register_module("lin_l", torch::nn::Linear(inputs, width));
  lin_r = register_module("lin_r", torch::nn::Linear(inputs, width));
  lin_edge = register_module(
      "lin_edge", torch::nn::Linear(torch::nn::LinearOptions(edge_features, width).bias(false)));
  att = register_parameter("att", torch::empty({1, heads, channels}));
  bias = register_parameter("bias", torch::zeros({width}));
  for (const at::Tensor& t : {lin_l->weight, lin_r->weight, lin_edge->weight, att}) glorot(t);
}

at::Tensor GatV2ConvImpl::forward(const at::Tensor& x_NF, const BatchTensors& batch) {
  return gatv2_attention(lin_l->forward(x_NF), lin_r->forward(x_NF), lin_edge->weight, att, bias,
                         batch);
}

at::Tensor gatv2_attention(const at::Tensor& l_NC, const at::Tensor& r_NC,
                           const at::Tensor& lin_edge, const at::Tensor& att,
                           const at::Tensor& bias, const BatchTensors& batch) {
  // Scores and their softmax stay in the parameters' precision, also under autocast.
  const FullPrecision exact;
  const at::Tensor l = l_NC.to(att.scalar_type()).contiguous();
  const at::Tensor r = r_NC.to(att.scalar_type()).contiguous();
  if (l.is_cpu() && !batch.edge_attr_ED.requires_grad()) {
    return Gatv2Attention::apply(l, r, lin_edge, att, bias, batch);
  }
  return gatv2_attention_reference(l, r, lin_edge, att, bias, batch);
}

at::Tensor gatv2_attention_reference(const at::Tensor& l_NC, const at::Tensor& r_NC,
                                     const at::Tensor& lin_edge, const at::Tensor& att,
                                     const at::Tensor& bias, const BatchTensors& batch) {
  const int64_t nodes = l_NC.size(0), heads = att.size(-2), channels = att.size(-1);
  const at::Tensor all = at::arange(nodes, batch.in_source_E.options().dtype(at::kLong));
  at::Tensor source_E = batch.in_source_E.to(at::kLong), target_E = edge_targets(batch);
  const at::Tensor kept = source_E.ne(target_E).nonzero().squeeze(1);
  source_E = source_E.index_select(0, kept);
  target_E = target_E.index_select(0, kept);
  at::Tensor attr_ED = batch.edge_attr_ED.to(l_NC.scalar_type()).index_select(0, kept);
  const at::Tensor count_N = at::zeros({nodes}, l_NC.options())
                                 .index_add(0, target_E, at::ones_like(attr_ED.select(1, 0)));
  const at::Tensor loop_ND =
      at::zeros({nodes, attr_ED.size(1)}, l_NC.options()).index_add(0, target_E, attr_ED) /
      count_N.clamp_min(1).unsqueeze(1);
  source_E = at::cat({source_E, all});
  target_E = at::cat({target_E, all});
  attr_ED = at::cat({attr_ED, loop_ND});

  const at::Tensor l_EHC = l_NC.index_select(0, source_E).view({-1, heads, channels});
  const at::Tensor sum_EHC =
      l_EHC +
      (r_NC.index_select(0, target_E) + at::linear(attr_ED, lin_edge)).view({-1, heads, channels});
  const at::Tensor score_EH = (at::leaky_relu(sum_EHC, kAttentionSlope) * att).sum(-1);
  const at::Tensor alpha_EH = softmax_by_target(score_EH, target_E, nodes);
  return at::zeros({nodes, heads, channels}, l_NC.options())
             .index_add(0, target_E, l_EHC * alpha_EH.unsqueeze(-1))
             .view({nodes, heads * channels}) +
         bias;
}

}  // namespace kdgat::model
