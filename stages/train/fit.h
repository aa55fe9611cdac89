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
#include "memory/memory_plan.h"
#include "train/data_set.h"
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
  memory::Footprint footprint;  ///< what training needs, counted from the model's shapes
  bool with_edge_attr = false;  ///< loss and score read edge features
  bool parts_differ = false;    ///< batch statistics enter the loss: a split batch changes it
  /// Scores above it are attacks; none = the validation data chooses it.
  std::optional<double> threshold;
  /// Judges graphs in the place of scores and thresholds: numbers by name ("accuracy", "rmse"), for
  /// the validation metrics "val_NAME". `check` is to be called now and then.
  std::function<nlohmann::json(const std::vector<int64_t>& ids, const std::function<void()>& check)>
      judge;
  std::string headline;  ///< the name of its number that a summary shows
  std::string size;      ///< "student", "teacher" or "custom"
};

/// The learner of an objective: anything with module(), loss(batch, totals, {seed, step}),
/// score(batch), parts() and with_edge_attr(). `objective` outlives the learner.
template <class Objective>
Learner make_learner(Objective& objective, int64_t seed, memory::Footprint footprint,
                     std::string size) {
  Learner out;
  out.module = &objective.module();
  out.loss = [&objective, seed](const graph::GraphBatch& batch, const graph::StepTotals& totals,
                                int64_t step) {
    return objective.loss(batch, totals, {static_cast<uint64_t>(seed), step});
  };
  out.score = [&objective](const graph::GraphBatch& batch) { return objective.score(batch); };
  out.parts = [&objective] { return objective.parts(); };
  out.footprint = std::move(footprint);
  out.size = std::move(size);
  out.with_edge_attr = objective.with_edge_attr();
  return out;
}

/// Graphs by what they are used for.
struct Parts {
  std::vector<int64_t> train;
  std::vector<int64_t> val_loss;   ///< for the validation loss
  std::vector<int64_t> val_score;  ///< for AUC and F1; labels 0 and 1, or what `judge` takes
  Sampler* sampler = nullptr;      ///< chooses among `train` for each epoch; null = all

  /// Of which a loss is taken: `train` and `val_loss`.
  std::vector<int64_t> with_loss() const {
    std::vector<int64_t> out = train;
    out.insert(out.end(), val_loss.begin(), val_loss.end());
    return out;
  }
};

/// Sets threads, seed and determinism; the device of `request`. Throws Error(kUsage) if LibTorch
/// cannot use it. The generator that is seeded belongs to all threads of the process: whoever draws
/// weights from it holds model::hold_generator() from here on.
torch::Device prepare(const TrainOptions& options, const Request& request);

/// From now on tensors stay under the limit of the request, or on the CPU under what the machine
/// has free. fit() does so once it has a plan: below its floor the plan has more to say.
void limit_memory(torch::Device device, const Request& request);

/// Plans the memory of training on the graphs `ids`, on the device of `request` or on the one it
/// names. With memory_estimation = measured a few packs are run. Throws Error(kDoesNotFit).
memory::MemoryPlan plan_memory(const TrainOptions& options, const Learner& learner,
                               const graph::GraphStore& store, const std::vector<int64_t>& ids,
                               const Request& request);
/// The same from counts and the facts of a data set alone.
memory::MemoryPlan plan_memory(const TrainOptions& options, const memory::Footprint& counted,
                               const nlohmann::json& graph_facts, const Request& request);

/// The plan as a stage's plan() answers it, with the words of its cache policy, the teacher's mode
/// and the epochs: measured by `measured()` where the request asks for it and no teacher is to be
/// loaded, else `counted`. Counts refuse nothing that a measurement before training may find to
/// fit. {"memory": plan}, or {}.
template <class Kd, class Measured>
nlohmann::json planned_memory(const TrainOptions& options, const Kd& kd,
                              const memory::Footprint& counted, const Request& request,
                              const Measured& measured) {
  const Input& graphs = request.input("graphs");
  const bool there = !graphs.path.empty();
  nlohmann::json out;
  try {
    out = request.memory.measure && there && !kd.use_kd
              ? measured().json()
              : plan_memory(options, counted, graphs.facts, request).json();
  } catch (const Error& error) {
    const bool may_fit = there && !request.memory.measure && request.memory.device.empty() &&
                         options.memory_estimation == "measured";
    if (error.code() != ExitCode::kDoesNotFit || !may_fit) throw;
    return nlohmann::json::object();
  }
  out["cache_policy"] = options.cache_policy;
  out["teacher"] = kd.use_kd ? kd.teacher : "none";
  out["epochs"] = options.max_epochs;
  return {{"memory", std::move(out)}};
}

/// Graphs of a batch that is only scored; such batches stay in the caches, and scoring does not get
/// faster beyond.
inline constexpr int64_t kScoreGraphs = 512;

/// Calls visit(batch, ids of the batch) for every batch of at most `graphs` of `ids`, in order. A
/// batch for which there is no memory is visited again in halves: visit must do nothing lasting
/// before its last allocation.
void for_batches(
    const graph::GraphStore& store, const std::vector<int64_t>& ids, bool with_edge_attr,
    const std::function<void(const graph::GraphBatch&, std::span<const int64_t>)>& visit,
    int64_t graphs = kScoreGraphs);

/// Scores of the graphs `ids`, in their order.
std::vector<float> score_all(const graph::GraphStore& store, const std::vector<int64_t>& ids,
                             bool with_edge_attr,
                             const std::function<torch::Tensor(const graph::GraphBatch&)>& score,
                             const std::function<void(int64_t done)>& progress = {},
                             int64_t graphs = kScoreGraphs);

/// Trains from scratch or from run_dir/checkpoint, and leaves the best weights in the module.
/// Returns {"metrics", "figures", "summary", "memory": {"planned", "actual"}} (kdgat/result.h). The checkpoint
/// stays until clear_checkpoint().
nlohmann::json fit(const TrainOptions& options, const Learner& learner, const Data& data,
                   const Parts& parts, const nlohmann::json& all_options, const Request& request,
                   const Host& host);

/// Of what fit() gave: {"threshold", "from": "fixed" or "val"}; empty without validation scores.
nlohmann::json decision_of(const nlohmann::json& fitted);

/// To be called once the model is saved.
void clear_checkpoint(const Request& request);

}  // namespace kdgat::train
