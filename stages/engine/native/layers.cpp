#include "engine/native/layers.h"

#include <algorithm>
#include <utility>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/portable/layers.h"
#include "kdgat/error.h"

namespace kdgat::native {
namespace {

constexpr float kSlope = 0.2F;  // of the leaky ReLU of scores, as published
constexpr int64_t kHashes = 2;  // rows of the table that an identifier has

std::size_t at(int64_t i) { return static_cast<std::size_t>(i); }

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

float* room(std::vector<float>& values, int64_t count) {
  if (std::ssize(values) < count) values.resize(at(count));
  return values.data();
}

// ---- Linear

Linear::Linear(Weights& weights, const std::string& name, int64_t inputs, int64_t outputs,
               bool has_bias)
    : Linear(weights.floats(name + ".weight", {outputs, inputs}),
             has_bias ? weights.floats(name + ".bias", {outputs}) : std::span<const float>(),
             inputs, outputs) {}

Linear::Linear(std::span<const float> weight, std::span<const float> bias, int64_t inputs,
               int64_t outputs)
    : inputs_(inputs),
      outputs_(outputs),
      columns_((outputs + kernels::isa::kHeadPadding - 1) / kernels::isa::kHeadPadding *
               kernels::isa::kHeadPadding),
      weight_(at(inputs * columns_)),
      bias_(at(columns_)) {
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t i = 0; i < inputs; ++i) weight_[at(i * columns_ + o)] = weight[at(o * inputs + i)];
  }
  std::copy(bias.begin(), bias.end(), bias_.begin());
}

void Linear::apply(const float* x, int64_t rows, float* out) {
  const kernels::isa::HeadTable<float>& table = kernels::loops<float>().head;
  if (outputs_ == columns_) {
    return table.logits(x, weight_.data(), bias_.data(), rows, inputs_, columns_, out);
  }
  float* cells = room(cells_, rows * columns_);
  table.logits(x, weight_.data(), bias_.data(), rows, inputs_, columns_, cells);
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(cells + r * columns_, outputs_, out + r * outputs_);
  }
}

// ---- Perceptron

Perceptron::Perceptron(Weights& weights, const std::string& name, int64_t width, int64_t outputs,
                       int64_t layers) {
  for (int64_t i = 0; i < layers; ++i) {
    linears_.emplace_back(weights, name + "." + std::to_string(3 * i), width,
                          i + 1 < layers ? width : outputs);
  }
}

void Perceptron::apply(std::vector<float>& x, int64_t rows, float* out) {
  for (std::size_t i = 0; i + 1 < linears_.size(); ++i) {
    float* next = room(next_, rows * linears_[i].outputs());
    linears_[i].apply(x.data(), rows, next);
    kdgat_relu(next, rows * linears_[i].outputs());
    std::swap(x, next_);
  }
  linears_.back().apply(x.data(), rows, out);
}

// ---- Input

std::vector<float> embedding_table(Weights& weights, const model::InputForm& form, int64_t num_ids,
                                   int64_t width) {
  if (form.id_embedding != "hashed") {
    return copy(weights.floats("input.embedding.weight", {num_ids, width}));
  }
  const std::span<const float> rows =
      weights.floats("input.embedding.weight", {form.id_buckets, width});
  const std::span<const int64_t> bucket = weights.integers("input.bucket", {num_ids, kHashes});
  std::vector<float> out(at(num_ids * width));
  for (int64_t i = 0; i < num_ids * kHashes; ++i) {
    const int64_t row = bucket[at(i)];
    if (row < 0 || row >= form.id_buckets) {
      throw Error(ExitCode::kData, "tensor 'input.bucket' names row " + std::to_string(row) +
                                       " of a table of " + std::to_string(form.id_buckets));
    }
    for (int64_t c = 0; c < width; ++c) {
      out[at(i / kHashes * width + c)] += rows[at(row * width + c)];
    }
  }
  return out;
}

Input::Input(Weights& weights, const model::InputForm& form, int64_t num_ids, int64_t node_features,
             int64_t width, int64_t edge_features, bool has_ids)
    : has_ids_(has_ids),
      num_ids_(num_ids),
      node_features_(node_features),
      embedding_(has_ids ? width : 0),
      edge_features_(edge_features) {
  if (has_ids) table_ = embedding_table(weights, form, num_ids, width);
  if (!form.standardise) return;
  node_mean_ = copy(weights.floats("input.node_mean", {features()}));
  node_scale_ = copy(weights.floats("input.node_scale", {features()}));
  if (edge_features == 0) return;
  edge_mean_ = copy(weights.floats("input.edge_mean", {edge_features}));
  edge_scale_ = copy(weights.floats("input.edge_scale", {edge_features}));
}

void Input::apply(const graph::GraphBatch& batch, std::vector<float>& x) const {
  if (batch.node_features != node_features_) {
    throw Error(ExitCode::kData, "the graphs have " + std::to_string(batch.node_features) +
                                     " node features, the model takes " +
                                     std::to_string(node_features_));
  }
  float* to = room(x, batch.nodes * width());
  for (int64_t n = 0; n < batch.nodes; ++n) {
    const float* from = batch.x.data() + n * node_features_;
    if (has_ids_) {
      const auto id = static_cast<int64_t>(*from++);
      if (id < 0 || id >= num_ids_) {
        throw Error(ExitCode::kData,
                    "the graphs hold vocabulary index " + std::to_string(id) +
                        ", the model knows " + std::to_string(num_ids_),
                    "import the data with the vocabulary the model was trained with");
      }
      to = std::copy_n(table_.data() + id * embedding_, embedding_, to);
    }
    for (int64_t f = 0; f < features(); ++f) {
      *to++ = node_mean_.empty() ? from[f]
                                 : kdgat_z_score(from[f], node_mean_[at(f)], node_scale_[at(f)]);
    }
  }
}

const float* Input::edges(const graph::GraphBatch& batch, std::vector<float>& out) const {
  const bool has_all =
      batch.edge_features == edge_features_ &&
      static_cast<int64_t>(batch.edge_attr.size()) == batch.edges * batch.edge_features;
  if (!has_all) {
    throw Error(ExitCode::kData, "the batch has " + std::to_string(batch.edge_features) +
                                     " edge features, the model takes " +
                                     std::to_string(edge_features_));
  }
  if (edge_mean_.empty()) return batch.edge_attr.data();
  float* to = room(out, batch.edges * edge_features_);
  const float* from = batch.edge_attr.data();
  for (int64_t e = 0; e < batch.edges; ++e) {
    for (int64_t d = 0; d < edge_features_; ++d) {
      *to++ = kdgat_z_score(*from++, edge_mean_[at(d)], edge_scale_[at(d)]);
    }
  }
  return out.data();
}

// ---- Attention

std::vector<float> transposed(std::span<const float> matrix, int64_t rows, int64_t columns) {
  std::vector<float> out(matrix.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) out[at(c * rows + r)] = matrix[at(r * columns + c)];
  }
  return out;
}

Attention::Attention(Weights& weights, const std::string& name, int64_t inputs, int64_t channels,
                     int64_t heads, int64_t edge_features)
    : channels_(channels), heads_(heads), edge_features_(edge_features) {
  if (heads < 1 || heads > kernels::isa::kMaxHeads || channels < 1) {
    throw Error(ExitCode::kData, "attention with " + std::to_string(heads) + " heads of " +
                                     std::to_string(channels) + " channels: 1 to " +
                                     std::to_string(kernels::isa::kMaxHeads) +
                                     " heads are possible");
  }
  const std::vector<int64_t> shape = {1, heads, channels};
  if (edge_features == 0) {
    lin_.emplace_back(weights, name + ".lin", inputs, width(), false);
    att_src_ = copy(weights.floats(name + ".att_src", shape));
    att_dst_ = copy(weights.floats(name + ".att_dst", shape));
  } else {
    lin_.emplace_back(weights, name + ".lin_l", inputs, width());
    lin_.emplace_back(weights, name + ".lin_r", inputs, width());
    att_src_ = copy(weights.floats(name + ".att", shape));
    lin_edge_ = transposed(weights.floats(name + ".lin_edge.weight", {width(), edge_features}),
                           width(), edge_features);
  }
  bias_ = copy(weights.floats(name + ".bias", {width()}));
}

void Attention::apply(const float* x, const graph::GraphBatch& batch, const float* edges,
                      float* out) {
  edge_features_ == 0 ? first(x, batch, out) : second(x, batch, edges, out);
}

void Attention::first(const float* x, const graph::GraphBatch& batch, float* out) {
  float* h = room(h_, batch.nodes * width());
  lin_[0].apply(x, batch.nodes, h);
  float* scores = room(scores_, 3 * batch.nodes * heads_);
  const int64_t size = batch.nodes * heads_;
  const kernels::isa::GatArgs<float> args = {.h = h,
                                             .att_src = att_src_.data(),
                                             .att_dst = att_dst_.data(),
                                             .bias = bias_.data(),
                                             .in_ptr = batch.in_ptr.data(),
                                             .in_source = batch.in_source.data(),
                                             .heads = heads_,
                                             .channels = channels_,
                                             .slope = kSlope,
                                             .alpha_src = scores,
                                             .alpha_dst = scores + size,
                                             .log_sum = scores + 2 * size,
                                             .out = out};
  kernels::loops<float>().gat.forward(args, 0, batch.nodes);
}

void Attention::second(const float* x, const graph::GraphBatch& batch, const float* edges,
                       float* out) {
  float* l = room(h_, batch.nodes * width());
  float* r = room(r_, batch.nodes * width());
  lin_[0].apply(x, batch.nodes, l);
  lin_[1].apply(x, batch.nodes, r);
  float* alpha = room(scores_, (batch.edges + batch.nodes) * heads_);
  float* row = room(row_, width() + edge_features_);
  const kernels::isa::Gatv2Args<float> args = {.l = l,
                                               .r = r,
                                               .edge_attr = edges,
                                               .lin_edge = lin_edge_.data(),
                                               .att = att_src_.data(),
                                               .bias = bias_.data(),
                                               .in_ptr = batch.in_ptr.data(),
                                               .in_source = batch.in_source.data(),
                                               .heads = heads_,
                                               .channels = channels_,
                                               .features = edge_features_,
                                               .edges = batch.edges,
                                               .slope = kSlope,
                                               .alpha = alpha,
                                               .out = out};
  kernels::loops<float>().gat.forward_v2(args, 0, batch.nodes, row);
}

// ---- NormRelu

SettledNorm settled_norm(Weights& weights, const std::string& name, int64_t columns) {
  const std::span<const float> weight = weights.floats(name + ".weight", {columns});
  const std::span<const float> bias = weights.floats(name + ".bias", {columns});
  const std::span<const float> mean = weights.floats(name + ".running_mean", {columns});
  const std::span<const float> variance = weights.floats(name + ".running_var", {columns});
  weights.integers(name + ".num_batches_tracked", {});
  SettledNorm out{std::vector<float>(weight.size()), std::vector<float>(weight.size())};
  for (std::size_t c = 0; c < weight.size(); ++c) {
    kdgat_settle_norm(weight[c], bias[c], mean[c], variance[c], &out.gain[c], &out.shift[c]);
  }
  return out;
}

NormRelu::NormRelu(Weights& weights, const std::string& name, Kind kind, int64_t columns)
    : kind_(kind), columns_(columns) {
  if (kind == Kind::kNone) return;
  if (kind == Kind::kBatch) {
    SettledNorm settled = settled_norm(weights, name, columns);
    gain_ = std::move(settled.gain);
    shift_ = std::move(settled.shift);
    return;
  }
  weight_ = copy(weights.floats(name + ".weight", {columns}));
  bias_ = copy(weights.floats(name + ".bias", {columns}));
  mean_scale_ = copy(weights.floats(name + ".mean_scale", {columns}));
  for (auto* column : {&gain_, &shift_, &mean_, &square_}) column->resize(at(columns));
}

void NormRelu::apply(float* x, const graph::GraphBatch& batch) {
  if (kind_ == Kind::kNone) return kdgat_relu(x, batch.nodes * columns_);
  if (kind_ == Kind::kBatch) {
    return kdgat_scale_relu(x, batch.nodes, columns_, gain_.data(), shift_.data());
  }
  const kernels::isa::NormTable<float>& table = kernels::loops<float>().norm;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const int64_t first = batch.node_ptr.data()[g], rows = batch.node_ptr.data()[g + 1] - first;
    float* from = x + first * columns_;
    table.mean_rows(from, 0, rows, columns_, mean_.data());
    for (std::size_t c = 0; c < mean_.size(); ++c) mean_[c] *= mean_scale_[c];
    table.column_sums(from, mean_.data(), rows, columns_, 2, square_.data());
    const auto n = static_cast<float>(std::max<int64_t>(rows, 1));
    for (std::size_t c = 0; c < gain_.size(); ++c) {
      kdgat_settle_norm(weight_[c], bias_[c], mean_[c], square_[c] / n, &gain_[c], &shift_[c]);
    }
    kdgat_scale_relu(from, rows, columns_, gain_.data(), shift_.data());
  }
}

// ---- GinLayer

GinLayer::GinLayer(Weights& weights, const std::string& name, int64_t inputs, int64_t width,
                   bool has_messages, NormRelu::Kind norm)
    : inputs_(inputs),
      has_messages_(has_messages),
      first_(weights, name + ".lin_1", inputs, width),
      second_(weights, name + ".lin_2", width, width),
      norm_(weights, name + ".norm", norm, width) {
  if (has_messages) own_ = 1 + weights.floats(name + ".eps", {1})[0];
}

void GinLayer::apply(const float* x, const graph::GraphBatch& batch, float* out) {
  const float* sums = x;
  if (has_messages_) {
    float* to = room(sums_, batch.nodes * inputs_);
    kdgat_neighbour_sums(x, batch.in_ptr.data(), batch.in_source.data(), batch.nodes, inputs_, own_,
                         to);
    sums = to;
  }
  float* hidden = room(hidden_, batch.nodes * first_.outputs());
  first_.apply(sums, batch.nodes, hidden);
  norm_.apply(hidden, batch);
  second_.apply(hidden, batch.nodes, out);
}

// ---- JumpingLstm

namespace {

int64_t units_of(int64_t channels, int64_t layers) { return layers * channels / 2; }

Linear gates_of(Weights& weights, const std::string& name, const std::string& end, int64_t inputs,
                int64_t units) {
  return {weights.floats(name + ".lstm.weight_" + end, {4 * units, inputs}),
          weights.floats(name + ".lstm.bias_" + end, {4 * units}), inputs, 4 * units};
}

}  // namespace

JumpingLstm::JumpingLstm(Weights& weights, const std::string& name, int64_t channels,
                         int64_t layers)
    : channels_(channels),
      units_(units_of(channels, layers)),
      att_(weights, name + ".att", 2 * units_, 1),
      said_(at(layers)) {
  for (const char* end : {"l0", "l0_reverse"}) {
    directions_.push_back({gates_of(weights, name, std::string("ih_") + end, channels, units_),
                           gates_of(weights, name, std::string("hh_") + end, units_, units_)});
  }
}

void JumpingLstm::read(Direction& direction, std::span<const std::vector<float>> states,
                       int64_t nodes, bool is_reverse) {
  float* gates = room(gates_, nodes * 4 * units_);
  float* more = room(more_, nodes * 4 * units_);
  float* state = room(state_, nodes * units_);
  float* cell = room(cell_, nodes * units_);
  std::fill_n(state, nodes * units_, 0.0F);
  std::fill_n(cell, nodes * units_, 0.0F);
  for (std::size_t step = 0; step < states.size(); ++step) {
    const std::size_t layer = is_reverse ? states.size() - 1 - step : step;
    direction.in.apply(states[layer].data(), nodes, gates);
    direction.again.apply(state, nodes, more);
    for (int64_t n = 0; n < nodes; ++n) {
      kdgat_lstm_step(gates + n * 4 * units_, more + n * 4 * units_, units_, cell + n * units_,
                      state + n * units_,
                      said_[layer].data() + (2 * n + (is_reverse ? 1 : 0)) * units_);
    }
  }
}

void JumpingLstm::apply(std::span<const std::vector<float>> states, int64_t nodes,
                        std::vector<float>& out) {
  for (std::vector<float>& said : said_) room(said, nodes * 2 * units_);
  read(directions_[0], states, nodes, false);
  read(directions_[1], states, nodes, true);
  const auto layers = static_cast<int64_t>(states.size());
  float* score = room(weights_, layers * nodes);
  for (int64_t l = 0; l < layers; ++l) {
    att_.apply(said_[at(l)].data(), nodes, score + l * nodes);
  }
  float* to = room(out, nodes * channels_);
  std::fill_n(to, nodes * channels_, 0.0F);
  for (int64_t n = 0; n < nodes; ++n) {
    kdgat_softmax(score + n, layers, nodes);
    for (int64_t l = 0; l < layers; ++l) {
      const float weight = score[l * nodes + n];
      const float* from = states[at(l)].data() + n * channels_;
      for (int64_t c = 0; c < channels_; ++c) to[n * channels_ + c] += weight * from[c];
    }
  }
}

void mean_pool(const float* x, const graph::GraphBatch& batch, int64_t columns, int64_t at_column,
               int64_t width, float* out) {
  const kernels::isa::NormTable<float>& table = kernels::loops<float>().norm;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    table.mean_rows(x, batch.node_ptr.data()[g], batch.node_ptr.data()[g + 1], columns,
                    out + g * width + at_column);
  }
}

void pool(const std::string& pooling, const float* x, const graph::GraphBatch& batch,
          int64_t columns, int64_t at_column, int64_t width, float* out) {
  if (pooling == "mean") return mean_pool(x, batch, columns, at_column, width, out);
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const int64_t first = batch.node_ptr.data()[g], rows = batch.node_ptr.data()[g + 1] - first;
    float* to = out + g * width + at_column;
    const float* from = x + first * columns;
    pooling == "max" ? kdgat_pool_max(from, rows, columns, to)
                     : kdgat_pool_sum(from, rows, columns, to);
  }
}

}  // namespace kdgat::native
