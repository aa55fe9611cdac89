#include "fields/space/objective/tree_objective.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/kernels/full_precision.h"
#include "engine/objective/eval_guard.h"

namespace kdgat::space {

namespace {

constexpr double kSafe = 1e-12;  // under a root, whose slope at 0 is infinite

/// States of the first and of the second nodes of pairs, [pairs,H] each.
std::pair<torch::Tensor, torch::Tensor> states(const torch::Tensor& h_NH, const NodePairs& pairs) {
  const auto rows = [&](const std::vector<int64_t>& nodes) {
    return h_NH.index_select(0, torch::tensor(nodes, torch::kLong).to(h_NH.device()));
  };
  return {rows(pairs.first), rows(pairs.second)};
}

}  // namespace

torch::Tensor order_positive(const torch::Tensor& h_NH, const NodePairs& pairs) {
  const auto [parent, child] = states(h_NH, pairs);
  return (child - parent).relu().sum(1);
}

torch::Tensor order_negative(const torch::Tensor& h_NH, const NodePairs& pairs,
                             const TreeLossOptions& options) {
  const auto [h_i, h_j] = states(h_NH, pairs);
  torch::Tensor apart;
  if (options.order_negative == "order") {
    apart = (h_j - h_i).relu().square().sum(1);
  } else {
    apart = (h_i - h_j).square().sum(1);
    if (options.order_negative == "l2") apart = (apart + kSafe).sqrt();
  }
  return (options.delta_margin - apart).relu();
}

std::vector<TreeObjective::Term> TreeObjective::terms(const graph::GraphBatch& batch,
                                                      const graph::StepTotals& totals,
                                                      const SpatialTensors& tensors,
                                                      graph::NoiseKey noise) {
  std::vector<Term> out;
  const auto upward = std::make_shared<const UpwardEdges>(batch);
  const torch::Tensor u_NH =
      model_->encoder->forward({tensors.x_NF, tensors.pos_N3, upward->edges()});
  // Backward walks these edges again: they live as long as it can be called.
  if (u_NH.requires_grad()) u_NH.register_hook([upward](const torch::Tensor&) {});
  const Growth growth = growth_of(tensors.pos_N3 / model_->encoder->config().scale,
                                  {batch.parent.data(), static_cast<std::size_t>(batch.nodes)},
                                  model_->growth->config());
  out.push_back(
      {"generation", 1, model_->growth->loss(u_NH, growth), growth.node_I, totals.internal});
  if (options.lambda_order == 0) return out;

  const torch::Tensor h_NH =
      kernels::full(model_->encoder->forward({tensors.x_NF, tensors.pos_N3, out_edges(batch)}));
  const auto add = [&](const char* name, const torch::Tensor& value, const NodePairs& pairs,
                       int64_t in_step) {
    const torch::Tensor node = torch::tensor(pairs.first, torch::kLong).to(value.device());
    out.push_back({name, options.lambda_order, value, node, in_step});
  };
  const NodePairs related = parent_child_pairs(batch);
  const NodePairs unrelated = unrelated_pairs(batch, noise.seed, noise.step);
  add("order_positive", order_positive(h_NH, related), related, totals.relations);
  add("order_negative", order_negative(h_NH, unrelated, options), unrelated, totals.negatives);
  return out;
}

torch::Tensor TreeObjective::loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                                  graph::NoiseKey noise) {
  const SpatialTensors tensors = to_spatial_tensors(batch, model_->encoder);
  parts_.clear();
  torch::Tensor total;
  for (const Term& term : terms(batch, totals, tensors, noise)) {
    const torch::Tensor mean =
        term.value.sum() / static_cast<double>(std::max<int64_t>(1, term.in_step));
    parts_.emplace_back(term.name, mean.detach());
    total = total.defined() ? total + term.weight * mean : term.weight * mean;
  }
  return total;
}

torch::Tensor TreeObjective::score(const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const objective::EvalGuard eval(*model_);
  const SpatialTensors tensors = to_spatial_tensors(batch, model_->encoder);
  torch::Tensor out;
  for (const Term& term : terms(batch, {}, tensors, {})) {
    const torch::Tensor graph = tensors.graph_N.index_select(0, term.node);
    const torch::Tensor zero = torch::zeros({batch.graphs}, term.value.options());
    const torch::Tensor count = zero.index_add(0, graph, torch::ones_like(term.value));
    const torch::Tensor mean = zero.index_add(0, graph, term.value) / count.clamp_min(1);
    out = out.defined() ? out + term.weight * mean : term.weight * mean;
  }
  return out.to(torch::kFloat).cpu();
}

}  // namespace kdgat::space
