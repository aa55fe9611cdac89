#include "engine/kernels/gat.h"

#include <limits>

namespace kdgat::kernels {

namespace {

at::Tensor softmax_by_target(const at::Tensor& score_EH, const at::Tensor& target_E,
                             int64_t nodes) {
  const at::Tensor index_EH = target_E.unsqueeze(1).expand_as(score_EH);
  const at::Tensor top_NH = at::full({nodes, score_EH.size(1)},
                                     -std::numeric_limits<double>::infinity(), score_EH.options())
                                .scatter_reduce(0, index_EH, score_EH.detach(), "amax");
  const at::Tensor weight_EH = (score_EH - top_NH.index_select(0, target_E)).exp();
  const at::Tensor sum_NH = at::zeros_like(top_NH).index_add(0, target_E, weight_EH);
  return weight_EH / sum_NH.index_select(0, target_E);
}

at::Tensor attention(const at::Tensor& h_NC, const at::Tensor& att_src, const at::Tensor& att_dst,
                     const at::Tensor& bias, const BatchTensors& batch) {
  const int64_t nodes = h_NC.size(0), heads = att_src.size(-2), channels = att_src.size(-1);
  const at::Tensor all = at::arange(nodes, batch.in_source_E.options().dtype(at::kLong));
  at::Tensor source_E = batch.in_source_E.to(at::kLong), target_E = edge_targets(batch);
  const at::Tensor keep = source_E.ne(target_E);
  source_E = at::cat({source_E.masked_select(keep), all});
  target_E = at::cat({target_E.masked_select(keep), all});

  const at::Tensor h_NHC = h_NC.view({nodes, heads, channels});
  const at::Tensor src_NH = (h_NHC * att_src).sum(-1), dst_NH = (h_NHC * att_dst).sum(-1);
  const at::Tensor score_EH = at::leaky_relu(
      src_NH.index_select(0, source_E) + dst_NH.index_select(0, target_E), kAttentionSlope);
  const at::Tensor message_EHC =
      h_NHC.index_select(0, source_E) * softmax_by_target(score_EH, target_E, nodes).unsqueeze(-1);
  return at::zeros_like(h_NHC).index_add(0, target_E, message_EHC).view({nodes, heads * channels}) +
         bias;
}

at::Tensor attention_v2(const at::Tensor& l_NC, const at::Tensor& r_NC, const at::Tensor& lin_edge,
                        const at::Tensor& att, const at::Tensor& bias, const BatchTensors& batch) {
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

constexpr GatKernels kGat = {attention, attention_v2};

}  // namespace

const GatKernels& GatKernels::plain() { return kGat; }

}  // namespace kdgat::kernels
