#include "engine/model/layers/input.h"

#include <ATen/Dispatch.h>
#include <torch/autograd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/graph/feature_stats.h"
#include "engine/model/layers/noise.h"
#include "kdgat/error.h"

namespace kdgat::model {

namespace {

constexpr uint32_t kIdNoise = 2000;  // names the place that draws noise
constexpr int64_t kHashes = 2;
constexpr double kClip = 10;

at::Tensor z_score(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& scale) {
  return ((x - mean) * scale).clamp(-kClip, kClip);
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Rows of a table. LibTorch's backward has each thread look at every row; here gradients are added
/// in one pass, in the order of the rows.
struct TakeRows : torch::autograd::Function<TakeRows> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& table_VD,
                            const at::Tensor& row_N) {
    ctx->save_for_backward({row_N});
    ctx->saved_data["rows"] = table_VD.size(0);
    return at::embedding(table_VD, row_N);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor row_N = ctx->get_saved_variables()[0].contiguous();
    const at::Tensor grad_ND = grads[0].contiguous();
    const int64_t width = grad_ND.size(-1);
    const at::Tensor out = at::zeros({ctx->saved_data["rows"].toInt(), width}, grad_ND.options());
    AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "take_rows", [&] {
      AT_DISPATCH_INDEX_TYPES(row_N.scalar_type(), "take_rows", [&] {
        const auto* row = row_N.const_data_ptr<index_t>();
        const auto* from = grad_ND.const_data_ptr<scalar_t>();
        auto* sums = out.data_ptr<scalar_t>();
        for (int64_t i = 0; i < row_N.numel(); ++i, from += width) {
          scalar_t* to = sums + row[i] * width;
          for (int64_t c = 0; c < width; ++c) to[c] += from[c];
        }
      });
    });
    return {out, at::Tensor()};
  }
};

at::Tensor rows_of(torch::nn::Embedding& table, const at::Tensor& rows) {
  const at::Tensor& weight = table->weight;
  if (!weight.is_cpu() || !weight.requires_grad()) return table->forward(rows);
  return TakeRows::apply(weight, rows);
}

/// A feature that never varies keeps its scale.
void take(const graph::ColumnStats& stats, const at::Tensor& mean, const at::Tensor& scale) {
  const auto tensor = [](const std::vector<double>& values) {
    return at::tensor(at::ArrayRef<double>(values), at::kDouble);
  };
  const at::Tensor deviation = tensor(stats.deviation);
  mean.copy_(tensor(stats.mean));
  scale.copy_(at::where(deviation.gt(1e-6), deviation.reciprocal(), 1.0));
}

}  // namespace

InputImpl::InputImpl(int64_t num_ids, int64_t node_features, int64_t width, const InputForm& form,
                     int64_t edge_features, bool has_ids)
    : form_(form), num_ids_(num_ids), node_features_(node_features), edge_features_(edge_features) {
  const bool hashed = has_ids && form.id_embedding == "hashed";
  if (has_ids) {
    embedding = register_module("embedding",
                                torch::nn::Embedding(hashed ? form.id_buckets : num_ids, width));
  }
  if (hashed) {
    bucket = register_buffer("bucket", torch::zeros({num_ids, kHashes}, torch::kLong));
    std::vector<int64_t> index(static_cast<std::size_t>(num_ids - 1));
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int64_t>(i);
    set_vocabulary(index);
  }
  if (form.standardise) {
    const int64_t features = has_ids ? node_features - 1 : node_features;
    node_mean = register_buffer("node_mean", torch::zeros({features}));
    node_scale = register_buffer("node_scale", torch::ones({features}));
    if (edge_features > 0) {
      edge_mean = register_buffer("edge_mean", torch::zeros({edge_features}));
      edge_scale = register_buffer("edge_scale", torch::ones({edge_features}));
    }
  }
}

int64_t InputImpl::width() const {
  return embedding ? embedding->options.embedding_dim() + node_features_ - 1 : node_features_;
}

void InputImpl::fit(const graph::GraphStore& store, std::span<const int64_t> benign) {
  if (bucket.defined()) set_vocabulary(store.need<graph::Ids>().vocabulary);
  if (!form_.standardise || benign.empty()) return;
  take(graph::node_stats(store, benign, embedding ? 1 : 0), node_mean, node_scale);
  if (edge_features_ > 0) take(graph::edge_stats(store, benign), edge_mean, edge_scale);
}

void InputImpl::set_vocabulary(std::span<const int64_t> raw_ids) {
  if (static_cast<int64_t>(raw_ids.size()) != num_ids_ - 1) {
    throw Error(ExitCode::kData, "a vocabulary of " + std::to_string(raw_ids.size()) +
                                     " identifiers, the model is for " +
                                     std::to_string(num_ids_ - 1));
  }
  at::Tensor rows = at::empty({num_ids_, kHashes}, at::kLong);
  auto row = rows.accessor<int64_t, 2>();
  for (int64_t i = 0; i < num_ids_; ++i) {
    // All unknown identifiers share one index, hence one vector.
    const int64_t raw = i + 1 < num_ids_ ? raw_ids[static_cast<std::size_t>(i)] : -1;
    for (int64_t k = 0; k < kHashes; ++k) {
      arrays::Random hash(static_cast<uint64_t>(raw), static_cast<uint64_t>(k));
      row[i][k] = static_cast<int64_t>(hash.below(static_cast<uint64_t>(form_.id_buckets)));
    }
  }
  bucket.copy_(rows);
}

at::Tensor InputImpl::identify(const kernels::BatchTensors& batch) {
  at::Tensor id_N = batch.id_N;
  if (form_.id_embedding == "unknown" && is_training()) {
    const at::Tensor known_N = relu_dropout(at::ones({batch.nodes, 1}, batch.x_NF.options()),
                                            form_.id_dropout, kIdNoise, batch)
                                   .squeeze(1)
                                   .gt(0);
    id_N = at::where(known_N, id_N, num_ids_ - 1).to(at::kInt);
  }
  if (!bucket.defined()) return rows_of(embedding, id_N);
  return rows_of(embedding, bucket.index_select(0, id_N)).sum(1);
}

at::Tensor InputImpl::forward(const kernels::BatchTensors& batch) {
  if (batch.x_NF.size(1) != node_features_) {
    throw Error(ExitCode::kData, "the graphs have " + std::to_string(batch.x_NF.size(1)) +
                                     " node features, the model takes " +
                                     std::to_string(node_features_));
  }
  if (!embedding) {
    return node_mean.defined() ? z_score(batch.x_NF, node_mean, node_scale) : batch.x_NF;
  }
  if (batch.is_cpu() && batch.nodes > 0) {  // elsewhere the check would wait for the device
    const int32_t* id = batch.id_N.const_data_ptr<int32_t>();
    const auto [low, high] = std::minmax_element(id, id + batch.nodes);
    if (*low < 0 || *high >= num_ids_) {
      throw Error(ExitCode::kData,
                  "the graphs hold vocabulary index " + std::to_string(*low < 0 ? *low : *high) +
                      ", the model knows " + std::to_string(num_ids_),
                  "import the data with the vocabulary the model was trained with");
    }
  }
  at::Tensor features = batch.x_NF.slice(1, 1);
  if (node_mean.defined()) features = z_score(features, node_mean, node_scale);
  return at::cat({identify(batch), features}, 1);
}

at::Tensor InputImpl::edges(const kernels::BatchTensors& batch) {
  const int64_t given = batch.edge_attr_ED.defined() ? batch.edge_attr_ED.size(1) : 0;
  if (given != edge_features_) {
    throw Error(ExitCode::kData, "the batch has " + std::to_string(given) +
                                     " edge features, the model takes " +
                                     std::to_string(edge_features_));
  }
  return edge_mean.defined() ? z_score(batch.edge_attr_ED, edge_mean, edge_scale)
                             : batch.edge_attr_ED;
}

Value InputImpl::count(StepCount& step) const {
  Tape& tape = step.tape;
  const double features = static_cast<double>(node_features_ - (embedding ? 1 : 0));
  const auto z_scores = [&] { tape.hold(floats(kNodes, 3 * features)); };
  Held id = tape.hold(kNodes * kInt);
  step.keep(id);
  if (!embedding) {
    if (node_mean.defined()) z_scores();
    Value out = tape.value(kNodes, features);
    out.grad = nullptr;                            // nobody learns the features
    if (!node_mean.defined()) out.data = nullptr;  // they are the batch's
    return out;
  }
  const auto d = static_cast<double>(embedding->options.embedding_dim());
  if (form_.id_embedding == "unknown") {
    tape.hold(kNodes * (2 * kFloat + 1 + kInt));
    id = tape.hold(kNodes * kInt);
  }
  if (bucket.defined()) id = tape.hold(kNodes * (2 * kLong));
  Value embedded = tape.value(kNodes, d);
  tape.then(embedded, [&tape, id, d, table = elements_of({embedding->weight})](const Held&) {
    const Held dense = tape.hold(floats(kNodes, d));  // the columns taken out of the whole
    tape.parameters(table);
  });
  if (bucket.defined()) tape.hold(floats(kNodes, 2 * d));
  Held scores;
  if (node_mean.defined()) {
    z_scores();
    scores = tape.hold(floats(kNodes, features));
  }
  return step.tape.joined({embedded}, kNodes, d + features);
}

Held InputImpl::count_edges(StepCount& step) const {
  if (!edge_mean.defined()) return nullptr;
  const auto features = static_cast<double>(edge_features_);
  step.tape.hold(floats(kEdges, 3 * features));
  return step.tape.hold(floats(kEdges, features));
}

}  // namespace kdgat::model
