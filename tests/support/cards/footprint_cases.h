// Training steps of detectors on made-up batches like those of CAN traffic, and the tensors that
// they hold at their most: what footprints are held against.
#pragma once

#include "support/catch_torch.h"
// The others need torch's macros gone.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/kernels/batch_tensors.h"
#include "engine/memory/meter.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "engine/objective/distillation.h"
#include "engine/objective/footprint.h"
#include "engine/train/optimizer.h"
#include "engine/train/precision.h"

namespace kdgat::model {

constexpr int64_t kIds = 2049;  ///< identifiers of the traffic

/// A batch like those of CAN traffic: 27 nodes a graph, or as many as said, 5 edges for each 3
/// nodes.
inline graph::GraphBatch traffic(int64_t graphs, int64_t edge_features = 0, int64_t each = 0) {
  arrays::Random random(7);
  std::vector<int64_t> nodes;
  graph::GraphBatch out;
  out.graphs = graphs;
  for (int64_t g = 0; g < graphs; ++g) {
    nodes.push_back(each > 0 ? each : 22 + static_cast<int64_t>(random.below(11)));
    out.nodes += nodes.back();
  }
  out.edges = 5 * out.nodes / 3;
  out.node_features = 11;
  out.edge_features = edge_features;
  out.x.resize(out.nodes * out.node_features);
  out.node_ptr.resize(graphs + 1);
  out.in_ptr.resize(out.nodes + 1);
  out.in_source.resize(out.edges);
  out.edge_attr.resize(out.edges * edge_features);
  out.y.resize(graphs);
  out.graph_id.resize(graphs);
  for (int64_t i = 0; i < out.x.size(); ++i) {
    out.x[i] = static_cast<float>(i % 11 == 0 ? static_cast<double>(random.below(kIds - 1))
                                              : random.uniform());
  }
  for (int64_t i = 0; i < out.edge_attr.size(); ++i) {
    out.edge_attr[i] = static_cast<float>(random.uniform());
  }
  int64_t node = 0;
  for (int64_t g = 0; g < graphs; ++g) {
    const auto count = nodes[static_cast<std::size_t>(g)];
    out.node_ptr[g] = static_cast<int32_t>(node);
    out.y[g] = g % 2;
    out.graph_id[g] = g;
    for (int64_t n = node; n < node + count; ++n) {
      out.in_ptr[n] = static_cast<int32_t>(5 * n / 3);
      for (int64_t e = 5 * n / 3; e < 5 * (n + 1) / 3; ++e) {
        out.in_source[e] = static_cast<int32_t>(
            node + static_cast<int64_t>(random.below(static_cast<uint64_t>(count))));
      }
    }
    node += count;
  }
  out.node_ptr[graphs] = static_cast<int32_t>(node);
  out.in_ptr[out.nodes] = static_cast<int32_t>(out.edges);
  return out;
}

inline train::NamedTensors named(const torch::nn::Module& module, bool with_buffers) {
  train::NamedTensors out;
  for (const auto& item : module.named_parameters()) out.emplace_back(item.key(), item.value());
  if (!with_buffers) return out;
  for (const auto& item : module.named_buffers()) out.emplace_back(item.key(), item.value());
  return out;
}

inline int64_t bytes_of(const train::NamedTensors& tensors) {
  int64_t out = 0;
  for (const auto& [name, tensor] : tensors) out += static_cast<int64_t>(tensor.nbytes());
  return out;
}

/// Gives zeros for a teacher's outputs.
class Silent : public objective::Teacher {
 public:
  explicit Silent(std::vector<objective::TeacherTensor> tensors) : tensors_(std::move(tensors)) {}
  std::vector<torch::Tensor> outputs(const graph::GraphBatch& batch) override {
    std::vector<torch::Tensor> out;
    for (const objective::TeacherTensor& t : tensors_) {
      out.push_back(torch::zeros({t.per_node ? batch.nodes : batch.graphs, t.width}));
    }
    return out;
  }
  std::vector<objective::TeacherTensor> tensors() const override { return tensors_; }

 private:
  std::vector<objective::TeacherTensor> tensors_;
};

inline std::unique_ptr<train::Objective> make(const VgaeConfig& config,
                                              const FootprintOptions& options) {
  GraphAutoencoder model = make_model(config);
  model->checkpointing = options.checkpointing;
  if (!options.distilling) return std::make_unique<objective::AutoencoderObjective>(model);
  const std::vector<objective::TeacherTensor> tensors = {{"latent", true, options.teacher_latent},
                                                         {"features", true, config.features()}};
  return std::make_unique<objective::AutoencoderDistillation>(model,
                                                              std::make_unique<Silent>(tensors));
}

inline std::unique_ptr<train::Objective> make(const GatConfig& config,
                                              const FootprintOptions& options) {
  GraphClassifier model = make_model(config);
  model->checkpointing = options.checkpointing;
  if (!options.distilling) return std::make_unique<objective::ClassifierObjective>(model);
  const std::vector<objective::TeacherTensor> tensors = {{"logits", false, config.classes}};
  return std::make_unique<objective::ClassifierDistillation>(model,
                                                             std::make_unique<Silent>(tensors));
}

inline memory::Footprint footprint(const VgaeConfig& config, const FootprintOptions& options) {
  return objective::footprint(make_model(config), options);
}
inline memory::Footprint footprint(const GatConfig& config, const FootprintOptions& options) {
  return objective::footprint(make_model(config), options);
}

inline bool reads_edges(const VgaeConfig&) { return false; }
inline bool reads_edges(const GatConfig& config) { return config.reads_edges(); }

/// What the trainer does in a step, and the most bytes of tensors from the first to the last.
/// `on_device`: the gathered batch is the host's and does not count, but a copy of it does.
template <class Config>
int64_t measured_peak(const Config& config, const FootprintOptions& options, int64_t graphs,
                      bool on_device = false) {
  std::optional<graph::GraphBatch> of_host;
  if (on_device) of_host = traffic(graphs, reads_edges(config) ? 11 : 0, options.largest_graph);
  const memory::PeakScope scope(memory::meter(torch::kCPU));
  const auto objective = make(config, options);
  train::NamedTensors best;
  for (const auto& [name, tensor] : named(objective->module(), true)) {
    best.emplace_back(name, tensor.detach().clone());
  }
  train::Optimizer optimizer(named(objective->module(), false), false, 1e-4);
  const graph::GraphBatch batch =
      of_host ? std::move(*of_host)
              : traffic(graphs, reads_edges(config) ? 11 : 0, options.largest_graph);
  std::vector<at::Tensor> copies;
  if (on_device) {
    const kernels::BatchTensors seen = kernels::to_tensors(batch, torch::kCPU);
    for (const at::Tensor& t : {seen.x_NF, seen.node_ptr_G1, seen.in_ptr_N1, seen.in_source_E,
                                seen.edge_attr_ED, seen.y_G, seen.graph_id_G}) {
      if (t.defined()) copies.push_back(t.clone());
    }
  }
  objective->module().train();
  for (int part = 0; part < (options.accumulating ? 2 : 1); ++part) {
    torch::Tensor loss;
    {
      const train::Autocast in_16_bits(options.precision, torch::kCPU);
      loss = objective->loss(batch, {batch.graphs, batch.nodes, batch.edges}, {1, part});
    }
    loss.backward();
  }
  optimizer.clip(1);
  optimizer.step(1e-3);
  return scope.peak() - scope.start();
}

}  // namespace kdgat::model
