#include "fields/space/model/sgmp.h"

#include <ATen/ATen.h>
#include <torch/nn/init.h>

#include "engine/kernels/full_precision.h"
#include "fields/space/model/path_features.h"

namespace kdgat::space {

namespace {

void start_glorot(const torch::nn::Linear& linear) {
  torch::nn::init::xavier_uniform_(linear->weight);
  torch::nn::init::zeros_(linear->bias);
}

}  // namespace

TwoLayersImpl::TwoLayersImpl(int64_t in, int64_t hidden, int64_t out) {
  first = register_module("first", torch::nn::Linear(in, hidden));
  second = register_module("second", torch::nn::Linear(hidden, out));
}

at::Tensor TwoLayersImpl::forward(const at::Tensor& x) { return second(at::relu(first(x))); }

SgmpBlockImpl::SgmpBlockImpl(const SgmpConfig& config) : config_(config) {
  const int64_t width = config.hidden;
  edge = register_module("edge", TwoLayers(kDistances, width, width));
  triplet = register_module("triplet", TwoLayers(kDistances + kThetas, width, width));
  torsion = register_module("torsion", TwoLayers(kDistances + kThetas + kPhis, width, width));
  combine0 = register_module("combine0", torch::nn::Linear(7 * width, 4 * width));
  combine1 = register_module("combine1", torch::nn::Linear(4 * width, 2 * width));
  combine2 = register_module("combine2", torch::nn::Linear(2 * width, width));
  for (const auto& linear :
       {edge->first, triplet->first, torsion->first, combine0, combine1, combine2}) {
    start_glorot(linear);
  }
  if (config.norm == "layer") {
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  }
}

at::Tensor SgmpBlockImpl::forward(const at::Tensor& h_NH, const at::Tensor& pos_N3,
                                  arrays::OutEdges edges, int64_t path_budget) {
  const at::Tensor sums_NC =
      path_messages(messages_of(h_NH), pos_N3, edges, config_.cutoff, path_budget);
  const std::vector<int64_t> counts = arrays::count_paths(edges);
  const at::Tensor count_N1 = at::tensor(counts, at::kLong).to(h_NH.options()).unsqueeze(1);
  if (config_.aggregation == "mean") return h_NH + kernels::full(combine2(sums_NC / count_N1));
  return h_NH + kernels::full(at::mm(sums_NC, combine2->weight.t())) + count_N1 * combine2->bias;
}

PathMessages SgmpBlockImpl::messages_of(const at::Tensor& h_NH) {
  const kernels::FullPrecision exact;  // folding is small; the messages' own products may round
  PathMessages m;
  m.h_NH = norm.is_empty() ? h_NH : norm(h_NH);
  const std::vector<at::Tensor> columns =
      combine0->weight.split(config_.hidden, 1);  // seven of [4H,H]
  m.of_nodes = at::cat({columns[0], columns[1], columns[2], columns[3]}, 0);
  m.bias = combine0->bias;
  const auto fold = [&](const TwoLayers& term, const at::Tensor& column) {
    m.bias = m.bias + at::mv(column, term->second->bias);
    return PathTerm{term->first->weight, term->first->bias, at::mm(column, term->second->weight)};
  };
  m.edge = fold(edge, columns[4]);
  m.triplet = fold(triplet, columns[5]);
  m.torsion = fold(torsion, columns[6]);
  m.second = combine1->weight;
  m.second_bias = combine1->bias;
  return m;
}

SgmpEncoderImpl::SgmpEncoderImpl(const SgmpConfig& config) : config_(config) {
  embedding =
      register_module("embedding", TwoLayers(config.node_features, config.hidden, config.hidden));
  for (int64_t b = 0; b < config.interactions; ++b) blocks->push_back(SgmpBlock(config));
  register_module("blocks", blocks);
}

at::Tensor SgmpEncoderImpl::forward(const SpatialInput& input) {
  at::Tensor h_NH = kernels::full(embedding(input.x_NF));
  const at::Tensor pos_N3 = input.pos_N3 / config_.scale;
  for (const auto& block : *blocks) {
    h_NH = block->as<SgmpBlock>()->forward(h_NH, pos_N3, input.edges, path_budget);
  }
  return h_NH;
}

Value TwoLayersImpl::count(SpatialCount& step, const Value& x) const {
  return step.linear(step.tape.elementwise(step.linear(x, first), Keeps::kResult), second);
}

Value SgmpBlockImpl::count(SpatialCount& step, const Value& h, const Held& pos) const {
  Tape& tape = step.tape;
  Value in = h;
  if (!norm.is_empty()) {
    in = tape.value(kNodes, h.width);
    const Held statistics = step.rows(kNodes, 2);
    tape.then(in, [&tape, h, statistics,
                   trained = step.gradients(model::elements_of({norm->weight, norm->bias}))](
                      const Held&) {
      tape.give(h);
      trained();
    });
  }
  const auto of = [](const torch::nn::Linear& layer) {
    return model::elements_of({layer->weight, layer->bias});
  };
  std::vector<double> direct, folded = of(combine0);
  for (const TwoLayers& term : {edge, triplet, torsion}) {
    for (const double count : of(term->first)) direct.push_back(count);
    for (const double count : of(term->second)) folded.push_back(count);
  }
  for (const double count : of(combine1)) direct.push_back(count);
  const Value sums = count_path_messages(step, in, pos, direct, folded);
  const Held counts = step.rows(kNodes, 1);
  if (config_.aggregation == "mean") {
    const Value mean = tape.value(kNodes, sums.width);
    tape.then(mean, [&tape, sums = sums.without_data(), counts](const Held&) { tape.give(sums); });
    return step.tape.sum(h, step.linear(mean, combine2));
  }
  const Value product = tape.value(kNodes, h.width);
  tape.then(
      product,
      [&tape, sums, trained = step.gradients(model::elements_of({combine2->weight}))](const Held&) {
        tape.give(sums);
        trained();
      });
  const Value shift = tape.value(kNodes, h.width);
  tape.then(shift, [counts, trained = step.gradients(model::elements_of({combine2->bias}))](
                       const Held&) { trained(); });
  return step.tape.sum(h, step.tape.sum(product, shift));
}

Value SgmpEncoderImpl::count(SpatialCount& step) const {
  const Value x{kNodes, static_cast<double>(config_.node_features), model::kFloat, nullptr,
                nullptr};
  Value h = embedding->count(step, x);
  const Held pos = step.rows(kNodes, 3);
  for (const auto& block : *blocks) h = block->as<SgmpBlock>()->count(step, h, pos);
  return h;
}

}  // namespace kdgat::space
