#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include "engine/kernels/cuda/device.h"
#include "engine/kernels/cuda/launch/gat_launches.h"
#include "engine/kernels/gat_function.h"

namespace kdgat::kernels {

namespace cuda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::size_t kEdgeTensors = 5;  // of EdgeTensors, last of what is saved

EdgeTensors edges_saved(const variable_list& saved) {
  return EdgeTensors(variable_list(saved.end() - kEdgeTensors, saved.end()));
}

/// What the kernels read and write, in the order they are saved for backward.
struct AttentionTensors {
  at::Tensor h, att_src, att_dst, bias, scores, out;

  int64_t heads() const { return att_src.size(-2); }
  template <class T>
  GatArgs<T> args(const EdgeTensors& over) const {
    T* score = scores.data_ptr<T>();
    const int64_t count = h.size(0) * heads();
    return {over.edges(),
            heads(),
            att_src.size(-1),
            T(kAttentionSlope),
            h.const_data_ptr<T>(),
            att_src.const_data_ptr<T>(),
            att_dst.const_data_ptr<T>(),
            bias.const_data_ptr<T>(),
            score,
            score + count,
            score + 2 * count,
            out.data_ptr<T>()};
  }
};

struct CardAttention : torch::autograd::Function<CardAttention> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& h, const at::Tensor& att_src,
                            const at::Tensor& att_dst, const at::Tensor& bias,
                            const BatchTensors& batch) {
    const EdgeTensors over(batch);
    const AttentionTensors o{h,
                             att_src.contiguous(),
                             att_dst.contiguous(),
                             bias.contiguous(),
                             at::empty({3, h.size(0), att_src.size(-2)}, h.options()),
                             at::empty_like(h)};
    const OnDevice on(h);
    AT_DISPATCH_FLOATING_TYPES(h.scalar_type(), "gat_attention",
                               [&] { gat_forward(on.launcher(), o.args<scalar_t>(over)); });
    variable_list saved = {o.h, o.att_src, o.att_dst, o.bias, o.scores, o.out};
    saved.insert(saved.end(), over.tensors.begin(), over.tensors.end());
    ctx->save_for_backward(saved);
    return o.out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list s = ctx->get_saved_variables();
    const AttentionTensors o{s[0], s[1], s[2], s[3], s[4], s[5]};
    const EdgeTensors over = edges_saved(s);
    const int64_t nodes = o.h.size(0), heads = o.heads(), edges = over.tensors[1].size(0);
    const at::Tensor grad_out = grads[0].contiguous(), grad_h = at::empty_like(o.h);
    const at::Tensor of_nodes = at::empty({3, nodes, heads}, o.h.options());
    const at::Tensor of_edges = at::empty({2, edges + nodes, heads}, o.h.options());
    const at::Tensor partials = at::empty({row_blocks(nodes), 2, o.h.size(1)}, o.h.options());
    const OnDevice on(o.h);
    AT_DISPATCH_FLOATING_TYPES(o.h.scalar_type(), "gat_attention", [&] {
      scalar_t *node = of_nodes.data_ptr<scalar_t>(), *edge = of_edges.data_ptr<scalar_t>();
      const int64_t count = nodes * heads;
      gat_backward<scalar_t>(
          on.launcher(), {o.args<scalar_t>(over), grad_out.const_data_ptr<scalar_t>(), node, edge,
                          edge + (edges + nodes) * heads, node + count, node + 2 * count,
                          grad_h.data_ptr<scalar_t>(), partials.data_ptr<scalar_t>()});
    });
    const at::Tensor sums = partials.sum(0);
    return {grad_h, sums[0].view_as(o.att_src), sums[1].view_as(o.att_dst), grad_out.sum(0),
            at::Tensor()};
  }
};

/// The same of the second kind.
struct AttentionTensors2 {
  at::Tensor l, r, edge_attr, lin_edge_t, att, bias, loop_attr, alpha, out;

  int64_t heads() const { return att.size(-2); }
  int64_t features() const { return edge_attr.size(1); }
  template <class T>
  Gatv2Args<T> args(const EdgeTensors& over) const {
    return {over.edges(),
            heads(),
            att.size(-1),
            features(),
            T(kAttentionSlope),
            l.const_data_ptr<T>(),
            r.const_data_ptr<T>(),
            edge_attr.const_data_ptr<T>(),
            lin_edge_t.const_data_ptr<T>(),
            att.const_data_ptr<T>(),
            bias.const_data_ptr<T>(),
            loop_attr.data_ptr<T>(),
            alpha.data_ptr<T>(),
            out.data_ptr<T>()};
  }
};

struct CardAttention2 : torch::autograd::Function<CardAttention2> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& l, const at::Tensor& r,
                            const at::Tensor& lin_edge, const at::Tensor& att,
                            const at::Tensor& bias, const BatchTensors& batch) {
    const EdgeTensors over(batch);
    const at::Tensor attr = batch.edge_attr_ED.to(l.scalar_type()).contiguous();
    const AttentionTensors2 o{l,
                              r,
                              attr,
                              lin_edge.t().contiguous(),
                              att.contiguous(),
                              bias.contiguous(),
                              at::empty({l.size(0), attr.size(1)}, l.options()),
                              at::empty({attr.size(0) + l.size(0), att.size(-2)}, l.options()),
                              at::empty_like(l)};
    const OnDevice on(l);
    AT_DISPATCH_FLOATING_TYPES(l.scalar_type(), "gatv2_attention",
                               [&] { gatv2_forward(on.launcher(), o.args<scalar_t>(over)); });
    variable_list saved = {o.l,    o.r,         o.edge_attr, o.lin_edge_t, o.att,
                           o.bias, o.loop_attr, o.alpha,     o.out};
    saved.insert(saved.end(), over.tensors.begin(), over.tensors.end());
    ctx->save_for_backward(saved);
    return o.out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list s = ctx->get_saved_variables();
    const AttentionTensors2 o{s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]};
    const EdgeTensors over = edges_saved(s);
    const int64_t nodes = o.l.size(0), rows = o.alpha.size(0), width = o.l.size(1);
    const at::Tensor grad_out = grads[0].contiguous();
    const at::Tensor grad_l = at::empty_like(o.l), grad_r = at::empty_like(o.r);
    const at::Tensor mean = at::empty({nodes, o.heads()}, o.l.options());
    const at::Tensor change = at::empty_like(o.alpha);
    const at::Tensor partials =
        at::empty({row_blocks(rows), 1 + o.features(), width}, o.l.options());
    const OnDevice on(o.l);
    AT_DISPATCH_FLOATING_TYPES(o.l.scalar_type(), "gatv2_attention", [&] {
      gatv2_backward<scalar_t>(
          on.launcher(),
          {o.args<scalar_t>(over), grad_out.const_data_ptr<scalar_t>(), mean.data_ptr<scalar_t>(),
           change.data_ptr<scalar_t>(), grad_l.data_ptr<scalar_t>(), grad_r.data_ptr<scalar_t>(),
           partials.data_ptr<scalar_t>()});
    });
    const at::Tensor sums = partials.sum(0);
    return {grad_l,          grad_r,      sums.slice(0, 1).t(), sums[0].view_as(o.att),
            grad_out.sum(0), at::Tensor()};
  }
};

}  // namespace
}  // namespace cuda

const GatKernels& GatKernels::cuda() {
  static constexpr GatKernels kGat = gat_kernels_of<cuda::CardAttention, cuda::CardAttention2>();
  return kGat;
}

}  // namespace kdgat::kernels
