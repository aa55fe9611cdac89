#include "model/layers/gat_reference.h"

#include "model/layers/attention.h"

namespace kdgat::model {

namespace {

at::Tensor expand_ptr(const at::Tensor& ptr, int64_t total) {
  const at::Tensor index = at::arange(ptr.size(0) - 1, ptr.options().dtype(at::kLong));
  return at::repeat_interleave(index, at::diff(ptr).to(at::kLong), 0, total);
}

}  // namespace

at::Tensor edge_targets(const BatchTensors& batch) {
  return expand_ptr(batch.in_ptr_N1, batch.edges);
}

at::Tensor node_graphs(const BatchTensors& batch) {
  return expand_ptr(batch.node_ptr_G1, batch.nodes);
}

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

at::Tensor gat_attention_reference(const at::Tensor& h_NC, const at::Tensor& att_src,
                                   const at::Tensor& att_dst, const at::Tensor& bias,
                                   const BatchTensors& batch) {
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

}  // namespace kdgat::model
