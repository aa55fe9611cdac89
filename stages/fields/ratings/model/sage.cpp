#include "fields/ratings/model/sage.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "engine/arrays/random.h"
#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/noise_keys.h"
#include "fields/ratings/model/sage_ops.h"

namespace kdgat::ratings {

namespace {

SageAggregator aggregator_of(const SageConfig& config) {
  return config.aggregator == "max" ? SageAggregator::kMax : SageAggregator::kMean;
}

/// Rows of a graph that are nodes [first, first + count).
kernels::isa::SageRows node_range(const SageGraph& graph, int64_t first, int64_t count) {
  return {graph.begin.data() + first, graph.end.data() + first, graph.col.data(), nullptr, count};
}

void fill_uniform(const at::Tensor& tensor, double bound, arrays::Random& random) {
  AT_DISPATCH_FLOATING_TYPES(tensor.scalar_type(), "fill_uniform", [&] {
    scalar_t* to = tensor.data_ptr<scalar_t>();
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      // By way of float, so that both types begin alike.
      to[i] = static_cast<float>(bound * (2 * random.uniform() - 1));
    }
  });
}

constexpr double kEpsilon = 1e-8, kBeta1 = 0.9, kBeta2 = 0.999;

}  // namespace

void to_json(nlohmann::json& out, const SageConfig& c) {
  out = {{"users", c.users},           {"items", c.items},
         {"features", c.features},     {"hidden", c.hidden},
         {"layers", c.layers},         {"aggregator", c.aggregator},
         {"dropout", c.dropout},       {"scaled_score", c.scaled_score},
         {"bias_terms", c.bias_terms}, {"embeddings", c.embeddings}};
}

void from_json(const nlohmann::json& in, SageConfig& c) {
  in.at("users").get_to(c.users);
  in.at("items").get_to(c.items);
  in.at("features").get_to(c.features);
  in.at("hidden").get_to(c.hidden);
  in.at("layers").get_to(c.layers);
  in.at("aggregator").get_to(c.aggregator);
  in.at("dropout").get_to(c.dropout);
  in.at("scaled_score").get_to(c.scaled_score);
  in.at("bias_terms").get_to(c.bias_terms);
  in.at("embeddings").get_to(c.embeddings);
}

SageNet::SageNet(SageConfig config, SageGraph graph, uint64_t seed, double head_bias,
                 at::ScalarType dtype)
    : config_(std::move(config)), graph_(std::move(graph)), dtype_(dtype) {
  make_parameters(seed, head_bias);
  make_workspace();
}

void SageNet::make_parameters(uint64_t seed, double head_bias) {
  const int64_t H = config_.hidden, F = config_.features, N = config_.nodes();
  struct Shape {
    std::string name;
    std::vector<int64_t> sizes;
    double bound;
  };
  const double of_features = F > 0 ? std::sqrt(6.0 / static_cast<double>(F + H)) : 0;
  const double of_hidden = 1 / std::sqrt(static_cast<double>(H));
  // States grow from layer to layer, and with them first scores: less so with smaller steps.
  const double of_layers =
      config_.scaled_score ? of_hidden / static_cast<double>(config_.layers) : of_hidden;
  std::vector<Shape> shapes = {{"user.weight", {H, F}, of_features},
                               {"user.bias", {H}, 0},
                               {"item.weight", {H, F}, of_features},
                               {"item.bias", {H}, 0}};
  for (int64_t k = 0; k < config_.layers; ++k) {
    const std::string name = "layers." + std::to_string(k);
    shapes.push_back({name + ".weight", {H, 2 * H}, of_layers});  // [A | B]
    shapes.push_back({name + ".bias", {H}, of_layers});
  }
  constexpr int64_t kUnits = kHeadUnits;
  shapes.push_back({"head.0.weight", {kUnits, 1}, 1});
  shapes.push_back({"head.0.bias", {kUnits}, 1});
  shapes.push_back({"head.2.weight", {1, kUnits}, 0.25});
  shapes.push_back({"head.2.bias", {1}, 0});
  if (config_.bias_terms) shapes.push_back({"node.bias", {N}, 0});
  if (config_.embeddings) shapes.push_back({"node.embedding", {N, H}, of_hidden});

  const int64_t count = sage_parameters(config_);
  for (at::Tensor* flat : {&weights_, &grads_, &first_, &second_})
    *flat = at::zeros({count}, dtype_);
  arrays::Random random(seed, 0x5A6E);
  int64_t at = 0;
  for (const Shape& shape : shapes) {
    int64_t size = 1;
    for (const int64_t s : shape.sizes) size *= s;
    parameters_.push_back({shape.name, weights_.narrow(0, at, size).view(shape.sizes),
                           grads_.narrow(0, at, size).view(shape.sizes)});
    if (shape.bound > 0) fill_uniform(parameters_.back().value, shape.bound, random);
    at += size;
  }
  if (at != count) throw std::logic_error("sage_parameters() counts others than there are");
  parameter("head.2.bias").fill_(head_bias);
}

void SageNet::make_workspace() {
  const int64_t N = config_.nodes(), H = config_.hidden, R = config_.rows(), L = config_.layers;
  const bool is_max = config_.aggregator == "max";
  const auto values = [this](int64_t rows, int64_t columns) {
    return at::empty({rows, columns}, dtype_);
  };
  const auto indices = [](const std::vector<int64_t>& sizes) { return at::empty(sizes, at::kInt); };
  for (int64_t k = 1; k < L; ++k) {
    in_N2H_.push_back(values(N, 2 * H));
    argmax_NH_.push_back(is_max ? indices({N, H}) : at::Tensor());
  }
  last_NH_ = values(N, H);
  last_in_R2H_ = values(R, 2 * H);
  if (is_max) last_argmax_RH_ = indices({R, H});
  out_RH_ = values(R, H);
  grad_out_RH_ = values(R, H);
  grad_NH_ = values(N, H);
  grad_in_N2H_ = values(L > 1 ? N : R, 2 * H);
  row_R_ = indices({R});
  slot_N_ = at::full({N}, -1, at::kInt);
}

at::Tensor SageNet::parameter(const std::string& name) const {
  for (const SageParameter& p : parameters_) {
    if (p.name == name) return p.value;
  }
  throw std::logic_error("no parameter is called " + name);
}

at::Tensor SageNet::grad(const std::string& name) const {
  for (const SageParameter& p : parameters_) {
    if (p.name == name) return p.grad;
  }
  throw std::logic_error("no parameter is called " + name);
}

at::Tensor SageNet::state(int64_t layer) const {
  const auto at = static_cast<std::size_t>(layer);
  return at < in_N2H_.size() ? in_N2H_[at].narrow(1, config_.hidden, config_.hidden) : last_NH_;
}

void SageNet::hidden_layers(const graph::NoiseKey& key, double dropout) {
  const int64_t H = config_.hidden, U = config_.users, I = config_.items;
  const at::Tensor first = state(0);
  const auto project = [&](const char* kind, int64_t from, int64_t count) {
    at::Tensor to = first.narrow(0, from, count);
    const at::Tensor bias = parameter(std::string(kind) + ".bias");
    if (config_.features == 0) {
      to.copy_(bias.expand_as(to));
      return;
    }
    const at::Tensor weight = parameter(std::string(kind) + ".weight");
    at::addmm_out(to, bias, graph_.x_NF.narrow(0, from, count), weight.t());
  };
  project("user", 0, U);
  project("item", U, I);
  if (config_.embeddings) first.add_(parameter("node.embedding"));

  const kernels::isa::SageRows all = node_range(graph_, 0, config_.nodes());
  for (int64_t k = 1; k < config_.layers; ++k) {
    const at::Tensor& in = in_N2H_[static_cast<std::size_t>(k - 1)];
    const std::string name = "layers." + std::to_string(k - 1);
    sage_aggregate(aggregator_of(config_), all, state(k - 1), in.narrow(1, 0, H),
                   argmax_NH_[static_cast<std::size_t>(k - 1)]);
    at::mm_out(grad_NH_, in, parameter(name + ".weight").t());
    const kernels::isa::SageDrop drop{sage_noise(key.seed, key.step, static_cast<uint64_t>(k)),
                                      kernels::drop_threshold(dropout)};
    sage_activate(grad_NH_, state(k - 1), parameter(name + ".bias"), drop, dropout, state(k));
  }
}

void SageNet::last_layer(const kernels::isa::SageRows& rows, const at::Tensor& nodes_R,
                         const at::Tensor& out_RH) {
  const int64_t H = config_.hidden, count = rows.rows;
  const at::Tensor in = last_in_R2H_.narrow(0, 0, count);
  at::Tensor own = in.narrow(1, H, H);
  sage_aggregate(aggregator_of(config_), rows, last_NH_, in.narrow(1, 0, H),
                 last_argmax_RH_.defined() ? last_argmax_RH_.narrow(0, 0, count) : at::Tensor());
  own.copy_(nodes_R);
  const std::string name = "layers." + std::to_string(config_.layers - 1);
  at::Tensor out = out_RH;
  at::addmm_out(out, parameter(name + ".bias"), in, parameter(name + ".weight").t());
  out.add_(own);
}

void SageNet::collect_rows(const RatedPairs& batch) {
  int32_t* row = row_R_.data_ptr<int32_t>();
  int32_t* slot = slot_N_.data_ptr<int32_t>();
  for (int64_t r = 0; r < rows_; ++r) slot[row[r]] = -1;
  rows_ = 0;
  for (const std::span<const int32_t>& nodes : {batch.user, batch.item, batch.negative}) {
    for (const int32_t v : nodes) {
      if (slot[v] >= 0) continue;
      slot[v] = static_cast<int32_t>(rows_);
      row[rows_++] = v;
    }
  }
}

double SageNet::gradient(const RatedPairs& batch, const PairLoss& loss,
                         const graph::NoiseKey& key) {
  const at::NoGradGuard no_grad;
  if (static_cast<int64_t>(batch.user.size()) > config_.batch ||
      (!batch.negative.empty() && config_.nodes_a_pair < 3)) {
    throw std::logic_error("more pairs than the workspace is for");
  }
  hidden_layers(key, config_.dropout);
  collect_rows(batch);
  // The states of the batch's own nodes are copied row by row, as they lie apart.
  at::Tensor own = last_in_R2H_.narrow(0, 0, rows_).narrow(1, config_.hidden, config_.hidden);
  copy_rows(last_NH_, {row_R_.const_data_ptr<int32_t>(), static_cast<std::size_t>(rows_)}, own);
  kernels::isa::SageRows rows{graph_.begin.data(), graph_.end.data(), graph_.col.data(),
                              row_R_.const_data_ptr<int32_t>(), rows_};
  last_layer(rows, own, out_RH_.narrow(0, 0, rows_));
  grads_.zero_();
  const double value =
      pair_gradients(*this, batch, loss, key, slot_N_, out_RH_, grad_out_RH_.narrow(0, 0, rows_));
  backward(rows);
  return value;
}

void SageNet::backward(const kernels::isa::SageRows& rows) {
  const int64_t H = config_.hidden, U = config_.users, I = config_.items, N = config_.nodes();
  const SageAggregator kind = aggregator_of(config_);
  const auto of_layer = [&](int64_t k, const at::Tensor& grad, const at::Tensor& in,
                            at::Tensor grad_in) {
    const std::string name = "layers." + std::to_string(k - 1);
    at::Tensor weight = this->grad(name + ".weight"), bias = this->grad(name + ".bias");
    at::mm_out(weight, grad.t(), in);
    at::sum_out(bias, grad, at::IntArrayRef{0});
    at::mm_out(grad_in, grad, parameter(name + ".weight"));
  };
  const at::Tensor grad_out = grad_out_RH_.narrow(0, 0, rows_);
  const at::Tensor grad_last = grad_in_N2H_.narrow(0, 0, rows_);
  of_layer(config_.layers, grad_out, last_in_R2H_.narrow(0, 0, rows_), grad_last);
  grad_NH_.zero_();
  add_rows(grad_out, {rows.node, static_cast<std::size_t>(rows_)}, grad_NH_);
  add_rows(grad_last.narrow(1, H, H), {rows.node, static_cast<std::size_t>(rows_)}, grad_NH_);
  sage_scatter(kind, rows, grad_last.narrow(1, 0, H), last_argmax_RH_, grad_NH_);

  const kernels::isa::SageRows all = node_range(graph_, 0, N);
  for (int64_t k = config_.layers - 1; k > 0; --k) {
    const auto at = static_cast<std::size_t>(k - 1);
    sage_activate_grad(state(k), config_.dropout, grad_NH_);
    of_layer(k, grad_NH_, in_N2H_[at], grad_in_N2H_);
    grad_NH_.add_(grad_in_N2H_.narrow(1, H, H));
    sage_scatter(kind, all, grad_in_N2H_.narrow(1, 0, H), argmax_NH_[at], grad_NH_);
  }
  const auto of_projection = [&](const char* name, int64_t from, int64_t count) {
    const at::Tensor grad = grad_NH_.narrow(0, from, count);
    at::Tensor bias = this->grad(std::string(name) + ".bias"),
               weight = this->grad(std::string(name) + ".weight");
    at::sum_out(bias, grad, at::IntArrayRef{0});
    if (config_.features > 0) {
      at::mm_out(weight, grad.t(), graph_.x_NF.narrow(0, from, count));
    }
  };
  of_projection("user", 0, U);
  of_projection("item", U, I);
  if (config_.embeddings) grad("node.embedding").copy_(grad_NH_);
}

void SageNet::adam(const AdamStep& step) {
  AT_DISPATCH_FLOATING_TYPES(dtype_, "adam", [&] {
    const double n = static_cast<double>(step.step);
    const kernels::isa::AdamArgs<scalar_t> args{weights_.data_ptr<scalar_t>(),
                                                first_.data_ptr<scalar_t>(),
                                                second_.data_ptr<scalar_t>(),
                                                grads_.const_data_ptr<scalar_t>(),
                                                scalar_t(step.lr),
                                                scalar_t(kBeta1),
                                                scalar_t(kBeta2),
                                                scalar_t(kEpsilon),
                                                scalar_t(step.weight_decay),
                                                scalar_t(1 - std::pow(kBeta1, n)),
                                                scalar_t(std::sqrt(1 - std::pow(kBeta2, n)))};
    kernels::loops<scalar_t>().sage.adam(args, 0, weights_.numel());
  });
}

at::Tensor SageNet::embed() {
  const at::NoGradGuard no_grad;
  hidden_layers({}, 0);
  const int64_t N = config_.nodes(), R = config_.rows();
  for (int64_t first = 0; first < N; first += R) {
    const int64_t count = std::min(R, N - first);
    last_layer(node_range(graph_, first, count), last_NH_.narrow(0, first, count),
               grad_NH_.narrow(0, first, count));
  }
  return grad_NH_;
}

at::Tensor SageNet::scratch(int64_t columns) const {
  return grad_in_N2H_.flatten()
      .narrow(0, 0, grad_in_N2H_.numel() / columns * columns)
      .view({-1, columns});
}

int64_t SageNet::bytes() const {
  int64_t bytes = 0;
  const auto add = [&bytes](const at::Tensor& t) {
    if (t.defined()) bytes += static_cast<int64_t>(t.nbytes());
  };
  for (const at::Tensor& t :
       {weights_, grads_, first_, second_, last_NH_, last_in_R2H_, last_argmax_RH_, out_RH_,
        grad_out_RH_, grad_NH_, grad_in_N2H_, row_R_, slot_N_}) {
    add(t);
  }
  for (const at::Tensor& t : in_N2H_) add(t);
  for (const at::Tensor& t : argmax_NH_) add(t);
  return bytes;
}

}  // namespace kdgat::ratings
