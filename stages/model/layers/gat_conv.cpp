#include "model/layers/gat_conv.h"

#include <ATen/record_function.h>
#include <torch/autograd.h>

#include "kdgat/error.h"
#include "model/kernels/isa.h"
#include "model/kernels/kernels.h"
#include "model/kernels/parallel.h"
#include "model/layers/attention.h"
#include "model/layers/gat_reference.h"
#include "model/layers/init.h"

namespace kdgat::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

template <class T>
kernels::GatArgs<T> arguments(const at::Tensor& h, const at::Tensor& att_src,
                              const at::Tensor& att_dst, const at::Tensor& bias,
                              const at::Tensor& in_ptr, const at::Tensor& in_source,
                              const at::Tensor& scores, const at::Tensor& out) {
  kernels::GatArgs<T> a{};
  a.h = h.const_data_ptr<T>();
  a.att_src = att_src.const_data_ptr<T>();
  a.att_dst = att_dst.const_data_ptr<T>();
  a.bias = bias.const_data_ptr<T>();
  a.in_ptr = in_ptr.const_data_ptr<int32_t>();
  a.in_source = in_source.const_data_ptr<int32_t>();
  a.heads = att_src.size(-2);
  a.channels = att_src.size(-1);
  a.slope = T(kAttentionSlope);
  const int64_t count = h.size(0) * a.heads;
  a.alpha_src = scores.data_ptr<T>();
  a.alpha_dst = a.alpha_src + count;
  a.log_sum = a.alpha_dst + count;
  a.out = out.data_ptr<T>();
  return a;
}

struct GatAttention : torch::autograd::Function<GatAttention> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& h, const at::Tensor& att_src,
                            const at::Tensor& att_dst, const at::Tensor& bias,
                            const BatchTensors& batch) {
    RECORD_FUNCTION("kdgat::attention", std::vector<c10::IValue>{h});
    at::Tensor out = at::empty_like(h);
    const at::Tensor scores = at::empty({3, h.size(0), att_src.size(-2)}, h.options());
    const std::vector<int64_t> blocks = graph_blocks(batch, kAttentionBlock);
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(h.scalar_type(), "gat_attention", [&] {
      const auto args = arguments<scalar_t>(h, att_src, att_dst, bias, batch.in_ptr_N1,
                                            batch.in_source_E, scores, out);
      const auto& table = kernel_table<scalar_t>();
      for_blocks(static_cast<int64_t>(blocks.size()) - 1, 4 * h.numel(), [&](int64_t b) {
        table.gat_forward(args, node_ptr[blocks[static_cast<std::size_t>(b)]],
                          node_ptr[blocks[static_cast<std::size_t>(b) + 1]]);
      });
    });
    ctx->save_for_backward({h, att_src, att_dst, bias, batch.node_ptr_G1, batch.in_ptr_N1,
                            batch.in_source_E, scores, out});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &h = saved[0], &att_src = saved[1], &att_dst = saved[2], &bias = saved[3];
    BatchTensors batch;
    batch.node_ptr_G1 = saved[4];
    batch.graphs = batch.node_ptr_G1.size(0) - 1;
    const at::Tensor grad_out = grads[0].contiguous();
    const at::Tensor grad_h = at::empty_like(h);
    const at::Tensor workspace = at::empty({2, h.size(0), att_src.size(-2)}, h.options());
    const std::vector<int64_t> blocks = graph_blocks(batch, kAttentionBlock);
    const auto count = static_cast<int64_t>(blocks.size()) - 1;
    const at::Tensor partials = at::empty({count, 3, h.size(1)}, h.options());
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(h.scalar_type(), "gat_attention", [&] {
      kernels::GatGradArgs<scalar_t> args{};
      args.forward =
          arguments<scalar_t>(h, att_src, att_dst, bias, saved[5], saved[6], saved[7], saved[8]);
      args.grad_out = grad_out.const_data_ptr<scalar_t>();
      args.grad_h = grad_h.data_ptr<scalar_t>();
      args.grad_alpha_src = workspace.data_ptr<scalar_t>();
      args.grad_alpha_dst = args.grad_alpha_src + workspace[0].numel();
      scalar_t* partial = partials.data_ptr<scalar_t>();
      const auto& table = kernel_table<scalar_t>();
      for_blocks(count, 8 * h.numel(), [&](int64_t b) {
        table.gat_backward(args, node_ptr[blocks[static_cast<std::size_t>(b)]],
                           node_ptr[blocks[static_cast<std::size_t>(b) + 1]],
                           partial + b * 3 * h.size(1));
      });
    });
    const at::Tensor sums = partials.sum(0);
    return {grad_h, sums[0].view_as(att_src), sums[1].view_as(att_dst), sums[2], at::Tensor()};
  }
};

}  // namespace

GatConvImpl::GatConvImpl(int64_t inputs, int64_t channels, int64_t heads)
    : channels_(channels), heads_(heads) {
  if (heads < 1 || heads > kernels::kMaxHeads || channels < 1) {
    throw Error(ExitCode::kUsage, "attention with " + std::to_string(heads) + " heads of " +
                                      std::to_string(channels) + " channels: 1 to " +
                                      std::to_string(kernels::kMaxHeads) + " heads are possible");
  }
  lin = register_module(
      "lin", torch::nn::Linear(torch::nn::LinearOptions(inputs, heads * channels).bias(false)));
  att_src = register_parameter("att_src", torch::empty({1, heads, channels}));
  att_dst = register_parameter("att_dst", torch::empty({1, heads, channels}));
  bias = register_parameter("bias", torch::zeros({heads * channels}));
  glorot(lin->weight);
  glorot(att_src);
  glorot(att_dst);
}

at::Tensor GatConvImpl::forward(const at::Tensor& x_NF, const BatchTensors& batch) {
  return gat_attention(lin->forward(x_NF), att_src, att_dst, bias, batch);
}

at::Tensor gat_attention(const at::Tensor& h_NC, const at::Tensor& att_src,
                         const at::Tensor& att_dst, const at::Tensor& bias,
                         const BatchTensors& batch) {
  // Scores and their softmax stay in the parameters' precision, also under autocast.
  const at::Tensor h = h_NC.to(att_src.scalar_type()).contiguous();
  if (h.is_cpu()) return GatAttention::apply(h, att_src, att_dst, bias, batch);
  return gat_attention_reference(h, att_src, att_dst, bias, batch);
}

}  // namespace kdgat::model
