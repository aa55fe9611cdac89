#include "fields/space/model/growth.h"

#include <ATen/ATen.h>

#include <numbers>
#include <utility>
#include <vector>

#include "engine/kernels/full_precision.h"

namespace kdgat::space {

namespace {

constexpr int64_t kHidden = 64;
constexpr double kTiny = 1e-12;  // of a sum that is divided by

/// What the parents say, on the host.
struct Trees {
  std::vector<int64_t> up;        ///< parent of each node; a root is its own
  std::vector<int64_t> internal;  ///< nodes with children, ascending

  explicit Trees(std::span<const int32_t> parent) : up(parent.size()) {
    std::vector<bool> has_child(parent.size());
    for (std::size_t v = 0; v < parent.size(); ++v) {
      up[v] = parent[v] < 0 ? static_cast<int64_t>(v) : parent[v];
      if (parent[v] >= 0) has_child[static_cast<std::size_t>(parent[v])] = true;
    }
    for (std::size_t v = 0; v < parent.size(); ++v) {
      if (has_child[v]) internal.push_back(static_cast<int64_t>(v));
    }
  }
};

/// A copy, on `device`.
at::Tensor to_tensor(const std::vector<int64_t>& values, at::Device device) {
  return at::tensor(values, at::kLong).to(device);
}

at::Tensor gaussians(const at::Tensor& x_N, double end, const GrowthConfig& config) {
  const double spacing = end / static_cast<double>(config.num_rbf_centers - 1);
  const double gamma = config.rbf_gamma == "one" ? 1 : 1 / (2 * spacing * spacing);
  const at::Tensor centre_K = at::arange(config.num_rbf_centers, x_N.options()) * spacing;
  return at::exp((x_N.clamp(0, end).unsqueeze(1) - centre_K).square() * -gamma);
}

/// Sum of the rows of each node and of its ancestors; rows of roots are 0. By doubling: after step
/// s a row holds 2^s nodes, and the 2^s-th ancestor's row is added.
at::Tensor sum_to_root(at::Tensor rows_NC, std::vector<int64_t> up) {
  bool moved = true;
  for (std::size_t step = 1; moved && step < up.size(); step *= 2) {
    rows_NC = rows_NC + rows_NC.index_select(0, to_tensor(up, rows_NC.device()));
    std::vector<int64_t> next(up.size());
    for (std::size_t v = 0; v < up.size(); ++v) next[v] = up[static_cast<std::size_t>(up[v])];
    moved = next != up;
    up = std::move(next);
  }
  return rows_NC;
}

}  // namespace

Growth growth_of(const at::Tensor& pos_N3, std::span<const int32_t> parent,
                 const GrowthConfig& config) {
  const at::NoGradGuard no_grad;
  const kernels::FullPrecision full_precision;
  Trees trees(parent);
  const at::Tensor up_N = to_tensor(trees.up, pos_N3.device());
  const at::Tensor is_edge_N = up_N.ne(at::arange(up_N.size(0), up_N.options()));
  const at::Tensor edge_N3 = pos_N3 - pos_N3.index_select(0, up_N);  // from the parent
  const at::Tensor before_N3 = edge_N3.index_select(0, up_N);
  const at::Tensor has_edge = is_edge_N.to(pos_N3.scalar_type()).unsqueeze(1);
  const at::Tensor has_turn = has_edge * has_edge.index_select(0, up_N);
  const at::Tensor length_N = edge_N3.square().sum(1).sqrt();
  const at::Tensor turn_N = at::atan2(at::linalg_cross(before_N3, edge_N3).square().sum(1).sqrt(),
                                      (before_N3 * edge_N3).sum(1));
  const at::Tensor length_NK = gaussians(length_N, config.cutoff, config) * has_edge;
  const at::Tensor turn_NK = gaussians(turn_N, std::numbers::pi, config) * has_turn;

  Growth out;
  out.node_I = to_tensor(trees.internal, pos_N3.device());
  const auto of_children = [&](const at::Tensor& rows_NK) {
    const at::Tensor sum =
        at::zeros_like(rows_NK).index_add(0, up_N, rows_NK).index_select(0, out.node_I);
    return sum / sum.sum(1, true).clamp_min(kTiny);
  };
  out.children = {of_children(length_NK), of_children(turn_NK)};
  const at::Tensor sums =
      sum_to_root(at::cat({length_NK, turn_NK, has_edge, has_turn}, 1), std::move(trees.up))
          .index_select(0, out.node_I);
  const auto mean = [&](int64_t block) {
    const int64_t k = config.num_rbf_centers;
    return sums.narrow(1, block * k, k) / sums.narrow(1, 2 * k + block, 1).clamp_min(1);
  };
  const at::Tensor is_below = has_edge.index_select(0, out.node_I);
  out.ancestry_IC = at::cat({mean(0), mean(1), is_below}, 1);
  out.has_turn_I = is_below.squeeze(1);
  return out;
}

at::Tensor earth_mover(const at::Tensor& p_IK, const at::Tensor& q_IK) {
  const int64_t k = p_IK.size(1), steps = k - 1;  // at the last centre both sums are 1
  // Sums up to each centre as a product: cumsum is not deterministic on every device.
  const at::Tensor up_to = at::ones({k, steps}, p_IK.options()).triu();
  return at::mm(p_IK - q_IK, up_to).abs().sum(1) / static_cast<double>(steps);
}

GrowthPredictorImpl::GrowthPredictorImpl(const GrowthConfig& config) : config_(config) {
  const int64_t blocks = 2 * config.num_rbf_centers;
  first = register_module("0", torch::nn::Linear(config.channels + blocks + 1, kHidden));
  second = register_module("2", torch::nn::Linear(kHidden, kHidden));
  last = register_module("4", torch::nn::Linear(kHidden, blocks));
}

Histograms GrowthPredictorImpl::forward(const at::Tensor& u_NH, const Growth& growth) {
  const kernels::FullPrecision full_precision;
  const at::Tensor input =
      at::cat({kernels::full(u_NH).index_select(0, growth.node_I), growth.ancestry_IC}, 1);
  const at::Tensor logits = last->forward(second->forward(first->forward(input).relu()).relu());
  const int64_t k = config_.num_rbf_centers;
  return {logits.narrow(1, 0, k).softmax(1), logits.narrow(1, k, k).softmax(1)};
}

at::Tensor GrowthPredictorImpl::loss(const at::Tensor& u_NH, const Growth& growth) {
  const kernels::FullPrecision full_precision;
  const Histograms predicted = forward(u_NH, growth);
  const at::Tensor length = earth_mover(predicted.length_IK, growth.children.length_IK);
  const at::Tensor turn = earth_mover(predicted.turn_IK, growth.children.turn_IK);
  return (length + growth.has_turn_I * turn) / (1 + growth.has_turn_I);
}

Value GrowthPredictorImpl::count(SpatialCount& step, const Value& u) const {
  // Children, ancestors and what the layers keep; sums by node while it is made.
  constexpr double kInternal = 0.7;  // of nodes
  const Cost rows = kNodes * kInternal;
  const auto centres = static_cast<double>(config_.num_rbf_centers);
  const Held given = step.rows(rows, 4 * centres + 4);
  step.rows(kNodes, 8 * centres + 6);
  Value loss = step.tape.value(rows, 1);
  const Held kept = step.rows(rows, u.width + 6 * centres + 1 + 2 * kHidden);
  step.tape.then(loss, [&step, u = u.without_data(), given, kept, rows, centres,
                        parameters = model::elements_of({first->weight, first->bias, second->weight,
                                                         second->bias, last->weight, last->bias})](
                           const Held&) {
    step.rows(rows, 2 * kHidden + u.width + 2 * centres + 1);
    step.tape.parameters(parameters);
    step.tape.give(u);
  });
  return loss;
}

}  // namespace kdgat::space
