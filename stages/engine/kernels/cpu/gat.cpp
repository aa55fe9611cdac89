#include <ATen/Dispatch.h>
#include <ATen/record_function.h>
#include <torch/autograd.h>

#include <algorithm>

#include "engine/kernels/cpu/by_graph.h"
#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/parallel.h"
#include "engine/kernels/gat_function.h"

namespace kdgat::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Nodes of the run of graphs that a thread takes at a time, about.
constexpr int64_t kAttentionBlock = 256;
/// Of a block whose gradients may stand twice for a moment; kernel_counts.h has the same.
constexpr int64_t kMostNodesTwice = 1024;

int64_t largest_block(const BatchTensors& batch, const std::vector<int64_t>& blocks) {
  const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
  int64_t out = 0;
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    out = std::max<int64_t>(out, node_ptr[blocks[b]] - node_ptr[blocks[b - 1]]);
  }
  return out;
}

template <class T>
isa::GatArgs<T> arguments(const at::Tensor& h, const at::Tensor& att_src, const at::Tensor& att_dst,
                          const at::Tensor& in_ptr, const at::Tensor& in_source,
                          const at::Tensor& scores) {
  isa::GatArgs<T> a{};
  a.h = h.const_data_ptr<T>();
  a.att_src = att_src.const_data_ptr<T>();
  a.att_dst = att_dst.const_data_ptr<T>();
  a.in_ptr = in_ptr.const_data_ptr<int32_t>();
  a.in_source = in_source.const_data_ptr<int32_t>();
  a.heads = att_src.size(-2);
  a.channels = att_src.size(-1);
  a.slope = T(kAttentionSlope);
  const int64_t count = h.size(0) * a.heads;
  a.alpha_src = scores.data_ptr<T>();
  a.alpha_dst = a.alpha_src + count;
  a.log_sum = a.alpha_dst + count;
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
      auto args =
          arguments<scalar_t>(h, att_src, att_dst, batch.in_ptr_N1, batch.in_source_E, scores);
      args.bias = bias.const_data_ptr<scalar_t>();
      args.out = out.data_ptr<scalar_t>();
      const isa::GatTable<scalar_t>& table = loops<scalar_t>().gat;
      for_blocks(static_cast<int64_t>(blocks.size()) - 1, 4 * h.numel(), [&](int64_t b) {
        table.forward(args, node_ptr[blocks[static_cast<std::size_t>(b)]],
                      node_ptr[blocks[static_cast<std::size_t>(b) + 1]]);
      });
    });
    // The result is not saved: backward gets <grad, out - bias> as the weighted sum of <grad, h_j>.
    ctx->save_for_backward(
        {h, att_src, att_dst, batch.node_ptr_G1, batch.in_ptr_N1, batch.in_source_E, scores});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &h = saved[0], &att_src = saved[1], &att_dst = saved[2];
    BatchTensors batch;
    batch.node_ptr_G1 = saved[3];
    batch.graphs = batch.node_ptr_G1.size(0) - 1;
    const std::vector<int64_t> blocks = graph_blocks(batch, kAttentionBlock);
    // Written over the gradient of the result, block by block, unless a block is too large to stand
    // twice.
    const at::Tensor grad_h = largest_block(batch, blocks) <= kMostNodesTwice
                                  ? cpu::room_of(grads[0])
                                  : at::empty_like(h);
    const bool by_block = grad_h.is_same(grads[0]);
    const at::Tensor grad_out = grads[0].contiguous();
    const at::Tensor workspace = at::empty({2, h.size(0), att_src.size(-2)}, h.options());
    const auto count = static_cast<int64_t>(blocks.size()) - 1;
    const at::Tensor partials = at::empty({count, 3, h.size(1)}, h.options());
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(h.scalar_type(), "gat_attention", [&] {
      isa::GatGradArgs<scalar_t> args{};
      args.forward = arguments<scalar_t>(h, att_src, att_dst, saved[4], saved[5], saved[6]);
      args.grad_out = grad_out.const_data_ptr<scalar_t>();
      args.grad_alpha_src = workspace.data_ptr<scalar_t>();
      args.grad_alpha_dst = args.grad_alpha_src + workspace[0].numel();
      scalar_t* partial = partials.data_ptr<scalar_t>();
      scalar_t* to = grad_h.data_ptr<scalar_t>();
      const int64_t width = h.size(1);
      const isa::GatTable<scalar_t>& table = loops<scalar_t>().gat;
      for_blocks(count, 8 * h.numel(), [&](int64_t b) {
        const int64_t begin = node_ptr[blocks[static_cast<std::size_t>(b)]],
                      end = node_ptr[blocks[static_cast<std::size_t>(b) + 1]];
        isa::GatGradArgs<scalar_t> here = args;
        here.grad_h = to;
        at::Tensor of_block;
        if (by_block) {
          of_block = at::empty({end - begin, width}, h.options());
          here.grad_h =
              of_block.data_ptr<scalar_t>() - begin * width;  // counted from the first node
        }
        table.backward(here, begin, end, partial + b * 3 * width);
        if (by_block) {
          const auto* sums = of_block.const_data_ptr<scalar_t>();
          std::copy(sums, sums + (end - begin) * width, to + begin * width);
        }
      });
    });
    const at::Tensor sums = partials.sum(0);
    return {grad_h, sums[0].view_as(att_src), sums[1].view_as(att_dst), sums[2], at::Tensor()};
  }
};

/// What the kernels read and write, in the order they are saved for backward.
struct Operands {
  at::Tensor l, r, edge_attr, lin_edge_t, att, bias, in_ptr, in_source, alpha, out;

  template <class T>
  isa::Gatv2Args<T> arguments() const {
    isa::Gatv2Args<T> a{};
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
      const isa::GatTable<scalar_t>& table = loops<scalar_t>().gat;
      for_blocks(count, o.work(), [&](int64_t b) {
        table.forward_v2(args, node_ptr[blocks[static_cast<std::size_t>(b)]],
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
      isa::Gatv2GradArgs<scalar_t> args{};
      args.forward = o.arguments<scalar_t>();
      args.grad_out = grad_out.const_data_ptr<scalar_t>();
      args.grad_l = grad_l.data_ptr<scalar_t>();
      args.grad_r = grad_r.data_ptr<scalar_t>();
      const isa::GatTable<scalar_t>& table = loops<scalar_t>().gat;
      for_blocks(count, 2 * o.work(), [&](int64_t b) {
        table.backward_v2(args, node_ptr[blocks[static_cast<std::size_t>(b)]],
                          node_ptr[blocks[static_cast<std::size_t>(b) + 1]],
                          rows.data_ptr<scalar_t>() + b * o.row(),
                          partials.data_ptr<scalar_t>() + b * share);
      });
    });
    const at::Tensor sums = partials.sum(0);
    return {grad_l, grad_r, sums.slice(0, 2).t(), sums[0].view_as(o.att), sums[1], at::Tensor()};
  }
};

constexpr GatKernels kGat = gat_kernels_of<GatAttention, Gatv2Attention>();

}  // namespace

const GatKernels& GatKernels::cpu() { return kGat; }

}  // namespace kdgat::kernels
