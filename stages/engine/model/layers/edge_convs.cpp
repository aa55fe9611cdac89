#include "engine/model/layers/edge_convs.h"

#include <optional>

#include "engine/kernels/edges.h"
#include "engine/kernels/full_precision.h"
#include "engine/kernels/gin.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/sums.h"
#include "engine/model/layers/linear.h"

namespace kdgat::model {

namespace {

using kernels::EdgeKernels;
using Rows = std::optional<at::Tensor>;

/// What the kernels read; sums stay in the parameters' precision, also under autocast.
at::Tensor rows_of(const at::Tensor& x, const torch::nn::Linear& lin) {
  return kernels::full(linear(x, lin));
}

Rows edge_rows(const torch::nn::Linear& lin_edge, const kernels::BatchTensors& batch) {
  if (lin_edge.is_empty()) return {};
  return rows_of(batch.edge_attr_ED.to(lin_edge->weight.scalar_type()), lin_edge);
}

/// No rows where there is no `lin_edge`.
Value count_edge_rows(StepCount& step, const torch::nn::Linear& lin_edge, const Held& attr) {
  if (lin_edge.is_empty()) return {};
  Value features;
  features.rows = kEdges;
  features.width = static_cast<double>(lin_edge->options.in_features());
  features.data = attr;
  return count_linear(step, features, lin_edge).value;
}

/// An operation over edges: `made` is held for its gradients, which are of each of `from`.
/// `scores`: of an edge, while they are made. On devices without kernels of them, messages and
/// their gradients are rows of edges.
Value count_over_edges(StepCount& step, const std::vector<Value>& from, const Held& made,
                       double width, bool keeps_result, double scores) {
  Tape& tape = step.tape;
  const bool by_rows = step.options.kernels != kernels::KernelSet::kCpu;
  const Cost row = kEdges * (kFloat * from.front().width);
  const Held messages = by_rows ? tape.hold(row * 4 + kEdges * (3 * kLong)) : nullptr;
  if (by_rows) tape.hold(row * 2);
  Value out = tape.value(kNodes, width);
  const Held kept = keeps_result ? out.data : nullptr;
  tape.then(out, [&tape, from, made, messages, kept, row, by_rows, scores](const Held&) {
    if (by_rows) tape.hold(row * 3);
    std::vector<Held> grads;
    grads.reserve(from.size());
    for (const Value& value : from) grads.push_back(tape.hold(value.bytes()));
    const Held of_scores = tape.hold(floats(kEdges, scores));
    for (std::size_t i = 0; i < from.size(); ++i) tape.pass(from[i], grads[i]);
  });
  return out;
}

}  // namespace

GineConvImpl::GineConvImpl(int64_t inputs, int64_t width, int64_t edge_features,
                           const std::string& norm) {
  eps = register_parameter("eps", torch::zeros({1}));
  lin_edge = register_module("lin_edge", torch::nn::Linear(edge_features, inputs));
  nn = register_module("nn", GinConv(inputs, width, /*has_messages=*/false, norm));
}

at::Tensor GineConvImpl::sums(const at::Tensor& given_NF, const kernels::BatchTensors& batch) {
  const at::Tensor x_NF = kernels::full(given_NF);
  const at::Tensor e_EF = *edge_rows(lin_edge, batch);
  const at::Tensor own_NF = kernels::own_rows(x_NF, eps);
  return own_NF + kernels::kernels_for<EdgeKernels>(x_NF.device()).relu_sums(x_NF, e_EF, batch);
}

at::Tensor GineConvImpl::forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) {
  return nn->forward(sums(x_NF, batch), batch);
}

at::Tensor GineConvImpl::forward_to_norm(const at::Tensor& x_NF, torch::nn::BatchNorm1dImpl& outer,
                                         double p, uint32_t layer,
                                         const kernels::BatchTensors& batch, bool update_running) {
  return nn->forward_to_norm(sums(x_NF, batch), outer, p, layer, batch, update_running);
}

Value GineConvImpl::count_sums(StepCount& step, const Value& x, const Held& attr) const {
  Tape& tape = step.tape;
  const Value e = count_edge_rows(step, lin_edge, attr);
  const Value own = tape.value(kNodes, x.width);
  tape.then(own, [&tape, x](const Held&) {
    tape.give(x);
    const Held product = tape.hold(x.bytes());
    tape.parameters({1});
  });
  return tape.sum(own, count_over_edges(step, {x, e}, nullptr, x.width, false, 0));
}

Value GineConvImpl::count(StepCount& step, const Value& x, const Held& attr) const {
  return nn->count(step, count_sums(step, x, attr), nullptr);
}

Value GineConvImpl::count_to_norm(StepCount& step, const Value& x, const Held& attr,
                                  const torch::nn::BatchNorm1dImpl& outer) const {
  return nn->count_to_norm(step, count_sums(step, x, attr), nullptr, outer);
}

TransformerConvImpl::TransformerConvImpl(int64_t inputs, int64_t channels, int64_t heads,
                                         int64_t edge_features)
    : heads_(heads) {
  require_heads(heads, channels);
  const int64_t width = heads * channels;
  lin_key = register_module("lin_key", torch::nn::Linear(inputs, width));
  lin_query = register_module("lin_query", torch::nn::Linear(inputs, width));
  lin_value = register_module("lin_value", torch::nn::Linear(inputs, width));
  if (edge_features > 0)
    lin_edge = register_module("lin_edge", linear_without_bias(edge_features, width));
  lin_skip = register_module("lin_skip", torch::nn::Linear(inputs, width));
}

at::Tensor TransformerConvImpl::forward(const at::Tensor& x_NF,
                                        const kernels::BatchTensors& batch) {
  // What comes last goes backward first: before x has a gradient of its own from `skip`.
  const at::Tensor skip = linear(x_NF, lin_skip);
  const at::Tensor q = rows_of(x_NF, lin_query), k = rows_of(x_NF, lin_key),
                   v = rows_of(x_NF, lin_value);
  const Rows e = edge_rows(lin_edge, batch);
  return kernels::kernels_for<EdgeKernels>(x_NF.device()).attention(q, k, v, e, heads_, batch) +
         skip;
}

Value TransformerConvImpl::count(StepCount& step, const Value& x, const Held& attr) const {
  const Value skip = count_linear(step, x, lin_skip).value;
  const Value q = count_linear(step, x, lin_query).value, k = count_linear(step, x, lin_key).value,
              v = count_linear(step, x, lin_value).value;
  std::vector<Value> from = {q, k, v};
  if (!lin_edge.is_empty()) from.push_back(count_edge_rows(step, lin_edge, attr));
  const auto heads = static_cast<double>(heads_);
  const Held alpha = step.tape.hold(floats(kEdges, heads));
  return step.tape.sum(count_over_edges(step, from, alpha, q.width, false, heads), skip);
}

PnaConvImpl::PnaConvImpl(int64_t inputs, int64_t width, int64_t edge_features) {
  constexpr int64_t kStatistics = 4, kScales = 3;
  lin_l = register_module("lin_l", linear_without_bias(inputs, inputs));
  lin_r = register_module("lin_r", torch::nn::Linear(inputs, inputs));
  if (edge_features > 0)
    lin_edge = register_module("lin_edge", linear_without_bias(edge_features, inputs));
  post = register_module("post", torch::nn::Linear((kStatistics * kScales + 1) * inputs, width));
  lin = register_module("lin", torch::nn::Linear(width, width));
  mean_log_degree = register_buffer("mean_log_degree", torch::ones({1}));
}

at::Tensor PnaConvImpl::forward(const at::Tensor& given_NF, const kernels::BatchTensors& batch) {
  const at::Tensor x_NF = kernels::full(given_NF);
  const at::Tensor l = rows_of(x_NF, lin_l), r = rows_of(x_NF, lin_r);
  const at::Tensor s = kernels::kernels_for<EdgeKernels>(x_NF.device())
                           .statistics(l, r, edge_rows(lin_edge, batch), batch);
  // s is zero where there are no neighbours: any factor will do.
  const at::Tensor scale =
      (kernels::neighbour_counts(x_NF, batch).clamp_min(1) + 1).log() / mean_log_degree;
  return linear(linear(at::cat({x_NF, s, s * scale, s / scale}, 1), post), lin);
}

Value PnaConvImpl::count(StepCount& step, const Value& x, const Held& attr) const {
  Tape& tape = step.tape;
  const Value l = count_linear(step, x, lin_l).value, r = count_linear(step, x, lin_r).value;
  std::vector<Value> from = {l, r};
  if (!lin_edge.is_empty()) from.push_back(count_edge_rows(step, lin_edge, attr));
  const Held names = tape.hold(kNodes * (2 * kInt * x.width));
  const Value s = count_over_edges(step, from, names, 4 * x.width, true, 0);
  const Held scale = tape.hold(floats(kNodes, 1));
  const Value joined = [&] {
    const Value more = tape.elementwise(s, Keeps::kNothing),
                less = tape.elementwise(s, Keeps::kNothing);
    return tape.joined({x, s, more, less}, kNodes, 13 * x.width);
  }();
  return count_linear(step, count_linear(step, joined, post).value, lin).value;
}

}  // namespace kdgat::model
