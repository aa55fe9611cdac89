#include "engine/kernels/edges.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace kdgat::kernels {

namespace {

using Rows = std::optional<at::Tensor>;

/// The edges that count.
struct Ends {
  at::Tensor kept, source, target;  ///< int64

  explicit Ends(const BatchTensors& batch) {
    const at::Tensor from = batch.in_source_E.to(at::kLong), to = edge_targets(batch);
    kept = from.ne(to).nonzero().squeeze(1);
    source = from.index_select(0, kept);
    target = to.index_select(0, kept);
  }
};

/// Rows of sources, with those of the edges.
at::Tensor with_edges(const at::Tensor& rows_NC, const Rows& e_EC, const Ends& ends) {
  const at::Tensor of_source = rows_NC.index_select(0, ends.source);
  return e_EC ? of_source + e_EC->index_select(0, ends.kept) : of_source;
}

at::Tensor relu_sums(const at::Tensor& x_NC, const at::Tensor& e_EC, const BatchTensors& batch) {
  const Ends ends(batch);
  return at::zeros_like(x_NC).index_add(0, ends.target, with_edges(x_NC, e_EC, ends).relu());
}

at::Tensor attention(const at::Tensor& q_NC, const at::Tensor& k_NC, const at::Tensor& v_NC,
                     const Rows& e_EC, int64_t heads, const BatchTensors& batch) {
  const Ends ends(batch);
  const int64_t nodes = q_NC.size(0), channels = q_NC.size(1) / heads;
  const auto by_head = [&](const at::Tensor& rows) { return rows.view({-1, heads, channels}); };
  const at::Tensor score_EH =
      (by_head(q_NC.index_select(0, ends.target)) * by_head(with_edges(k_NC, e_EC, ends))).sum(-1) /
      std::sqrt(static_cast<double>(channels));
  const at::Tensor index_EH = ends.target.unsqueeze(1).expand_as(score_EH);
  const at::Tensor top_NH =
      at::full({nodes, heads}, -std::numeric_limits<double>::infinity(), score_EH.options())
          .scatter_reduce(0, index_EH, score_EH.detach(), "amax");
  const at::Tensor weight_EH = (score_EH - top_NH.index_select(0, ends.target)).exp();
  const at::Tensor sum_NH = at::zeros_like(top_NH).index_add(0, ends.target, weight_EH);
  const at::Tensor alpha_EH = weight_EH / sum_NH.index_select(0, ends.target);
  const at::Tensor message_EHC = by_head(with_edges(v_NC, e_EC, ends)) * alpha_EH.unsqueeze(-1);
  return at::zeros_like(q_NC).index_add(0, ends.target, message_EHC.flatten(1));
}

at::Tensor statistics(const at::Tensor& l_NC, const at::Tensor& r_NC, const Rows& e_EC,
                      const BatchTensors& batch) {
  constexpr double kLeastVariance = 1e-5;
  const Ends ends(batch);
  const at::Tensor message_EC = with_edges(l_NC, e_EC, ends) + r_NC.index_select(0, ends.target);
  const at::Tensor none_NC = at::zeros_like(l_NC);
  const at::Tensor count_N1 =
      at::zeros({l_NC.size(0), 1}, l_NC.options())
          .index_add(0, ends.target, at::ones({ends.target.size(0), 1}, l_NC.options()))
          .clamp_min(1);
  const at::Tensor mean_NC = none_NC.index_add(0, ends.target, message_EC) / count_N1;
  const at::Tensor index_EC = ends.target.unsqueeze(1).expand_as(message_EC);
  const auto extreme = [&](const char* kind) {
    return none_NC.scatter_reduce(0, index_EC, message_EC, kind, /*include_self=*/false);
  };
  const at::Tensor distance_EC = message_EC - mean_NC.index_select(0, ends.target);
  const at::Tensor variance_NC = none_NC.index_add(0, ends.target, distance_EC.square()) / count_N1;
  const at::Tensor varies_NC = variance_NC.gt(kLeastVariance);
  const at::Tensor deviation_NC = at::where(
      varies_NC, at::where(varies_NC, variance_NC, at::ones_like(variance_NC)).sqrt(), none_NC);
  return at::cat({mean_NC, extreme("amin"), extreme("amax"), deviation_NC}, 1);
}

constexpr EdgeKernels kEdgeKernels = {relu_sums, attention, statistics};

}  // namespace

const EdgeKernels& EdgeKernels::plain() { return kEdgeKernels; }

}  // namespace kdgat::kernels
