// What training stages share around the Trainer: batch limits, validation after each epoch, talking
// to the host, and the result. Knows neither models nor objectives: it is handed closures.
#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/stage.h"
#include "train/data.h"
#include "train/trainer.h"

namespace kdgat::train {

/// The numbers of one stage's objective (objective::Objective as closures).
struct Learner {
  torch::nn::Module* module = nullptr;
  std::function<torch::Tensor(const graph::GraphBatch&, const graph::StepTotals&, int64_t step)>
      loss;
  /// Score of each graph, [G] float on the CPU; more is more of an attack.
  std::function<torch::Tensor(const graph::GraphBatch&)> score;
  /// Named terms of the last loss; may be empty.
  std::function<std::vector<std::pair<std::string, torch::Tensor>>()> parts;
  /// Bytes a node needs while training, counted from the model's widths.
  double bytes_per_node = 1;
  bool with_edge_attr = false;  ///< loss and score read edge features
  /// Scores above it are attacks; none = the validation data chooses it.
  std::optional<double> threshold;
  std::string size;  ///< "student", "teacher" or "custom"
};

/// The learner of an objective: anything with module(), loss(batch, totals, {seed, step}),
/// score(batch), parts() and with_edge_attr(). `objective` outlives the learner.
template <class Objective>
Learner make_learner(Objective& objective, int64_t seed, double bytes_per_node, std::string size) {
  Learner out;
  out.module = &objective.module();
  out.loss = [&objective, seed](const graph::GraphBatch& batch, const graph::StepTotals& totals,
                                int64_t step) {
    return objective.loss(batch, totals, {static_cast<uint64_t>(seed), step});
  };
  out.score = [&objective](const graph::GraphBatch& batch) { return objective.score(batch); };
  out.parts = [&objective] { return objective.parts(); };
  out.bytes_per_node = bytes_per_node;
  out.size = std::move(size);
  out.with_edge_attr = objective.with_edge_attr();
  return out;
}

/// Graphs by what they are used for.
struct Parts {
  std::vector<int64_t> train;
  std::vector<int64_t> val_loss;   ///< for the validation loss
  std::vector<int64_t> val_score;  ///< for AUC and F1; labels 0 and 1
  Sampler* sampler = nullptr;      ///< chooses among `train` for each epoch; null = all

  /// Of which a loss is taken: `train` and `val_loss`.
  std::vector<int64_t> with_loss() const {
    std::vector<int64_t> out = train;
    out.insert(out.end(), val_loss.begin(), val_loss.end());
    return out;
  }
};

/// Sets threads, seed and determinism of this process; the device of `request`. Throws
/// Error(kUsage) if LibTorch cannot use it.
torch::Device prepare(const TrainOptions& options, const Request& request);

/// Limits of a batch. With optimize_batch_size the node budget is (memory the device has free) x
/// min(0.85, safety_factor + 0.15) / bytes_per_node, rounded down to a power of two so that small
/// changes of the free memory do not change the packs.
graph::PackLimits batch_limits(const TrainOptions& options, double bytes_per_node,
                               int64_t bytes_free);

/// Bytes the device has free; on the CPU the least of the machine's and the cgroup's.
int64_t free_memory(torch::Device device);

/// Calls visit(batch, ids of the batch) for every batch of `ids`, in order.
void for_batches(
    const graph::GraphStore& store, const std::vector<int64_t>& ids, bool with_edge_attr,
    const std::function<void(const graph::GraphBatch&, std::span<const int64_t>)>& visit);

/// Scores of the graphs `ids`, in their order.
std::vector<float> score_all(const graph::GraphStore& store, const std::vector<int64_t>& ids,
                             bool with_edge_attr,
                             const std::function<torch::Tensor(const graph::GraphBatch&)>& score,
                             const std::function<void(int64_t done)>& progress = {});

/// Trains from scratch or from run_dir/checkpoint, and leaves the best weights in the module.
/// Returns {"metrics": {...}, "summary": "..."}. The checkpoint stays until clear_checkpoint().
nlohmann::json fit(const TrainOptions& options, const Learner& learner, const Data& data,
                   const Parts& parts, const nlohmann::json& all_options, const Request& request,
                   const Host& host);

/// Of what fit() gave: {"threshold", "from": "fixed" or "val"}; empty without validation scores.
nlohmann::json decision_of(const nlohmann::json& fitted);

/// To be called once the model is saved.
void clear_checkpoint(const Request& request);

}  // namespace kdgat::train
