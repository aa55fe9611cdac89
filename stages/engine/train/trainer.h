// Trainer: the training loop of whatever minimises an Objective on graphs. Owns optimizer,
// schedule, progress and checkpoints; borrows the objective. Knows no model and no data beside the
// store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/pack.h"
#include "engine/memory/cache_policy.h"
#include "engine/memory/memory_plan.h"
#include "engine/memory/meter.h"
#include "engine/train/checkpoint.h"
#include "engine/train/objective.h"
#include "engine/train/optimizer.h"
#include "engine/train/precision.h"
#include "engine/train/progress.h"
#include "engine/train/rank_group.h"
#include "engine/train/sampler.h"
#include "engine/train/schedule.h"
#include "engine/train/train_options.h"
#include "kdgat/error.h"

namespace kdgat::train {

/// What a training has beside its objective and options. What it names outlives the Trainer.
struct Training {
  const graph::GraphSet& store;
  std::vector<int64_t> ids;     ///< of the graphs to train on
  graph::PackLimits limits;     ///< of the packs
  memory::Size largest_part{};  ///< a larger piece of a pack is split beforehand; 0 = no bound
  Sampler* sampler = nullptr;   ///< chooses the graphs of each epoch; null = all of them
  RankGroup* ranks = nullptr;  ///< each computes its piece of every pack; null = this process alone
  /// Numbers of the validation data after an epoch, by name; the module is in eval mode and no
  /// gradients are recorded. To be called now and then: `check` throws when the run is cancelled.
  std::function<nlohmann::json(const std::function<void()>& check)> evaluate{};
  uint64_t seed = 0;
  std::filesystem::path checkpoint{};  ///< file to continue from and to write; empty = none
  /// What results depend on beside the trainer's own arguments; see Progress.
  std::string identity{};
};

/// Where the work is, for people.
struct StepReport {
  int64_t epoch = 0, epochs = 0;  ///< epoch counted from 1
  int64_t step = 0, steps = 0;    ///< inside the epoch
  std::optional<double> loss;     ///< mean of the epoch so far, now and then
  double graphs_per_second = 0;
};

/// Whoever watches; empty functions are not called.
struct Observer {
  std::function<ExitCode()> cancelled;  ///< kOk = go on
  std::function<void(const StepReport&)> step;
  std::function<void(int64_t epoch, const nlohmann::json& metrics)> epoch;  ///< counted from 1
  Log log;
  /// What happened to memory: {"event": "split", ...}.
  std::function<void(const nlohmann::json&)> memory;
};

struct Outcome {
  int64_t epochs = 0, steps = 0, best_epoch = 0;  ///< epochs counted from 1
  nlohmann::json best;                            ///< metrics of the best epoch
  double graphs_per_second = 0;                   ///< of training, in this process
  int64_t checkpoints = 0;                        ///< written, in this process
  double checkpoint_seconds = 0;                  ///< for which training stood still
  /// {"peak_tensor_bytes", "peak_reserved_bytes", "splits", "releases", ...} of training
  nlohmann::json memory;
};

/// Trains on the graphs `ids` of `store`. The packs of an epoch are a function of (seed, epoch), so
/// a run that continues from its checkpoint ends with the weights of an undisturbed one (on the CPU
/// with one thread bit by bit), also from the middle of an epoch.
class Trainer {
 public:
  /// `objective` outlives the trainer.
  Trainer(TrainOptions options, Objective& objective, Training training, Observer observer);

  /// Leaves the weights of the best epoch in the module. Throws Error with the observer's code,
  /// after a checkpoint, when cancelled; Error(kStageFailed) when the loss is not finite.
  Outcome run();

 private:
  void resume();
  void train_epoch();
  graph::PackPlan plan_epoch();
  torch::Tensor step(const graph::PackPlan& plan, int64_t first, int64_t end, double lr);
  torch::Tensor sum_of_step(const graph::StepTotals& totals);
  torch::Tensor gradients(const graph::StepTotals& totals);
  std::span<const int64_t> piece(const graph::PackPlan& plan, int64_t pack) const;
  void gather(std::span<const int64_t> ids);
  void gather_ahead();
  void add_part(std::span<const int64_t> ids);
  void split_part(const std::string& failure);
  void undo_step();
  nlohmann::json memory_now() const;
  void finish_epoch();
  void check_cancelled();
  [[noreturn]] void stop(ExitCode code);
  std::function<void()> check();
  void save();
  void report(int64_t packs, bool with_loss) const;
  double mean_loss() const;
  void check_finite(double value, const std::string& name) const;
  bool is_first() const { return training_.ranks == nullptr || training_.ranks->is_first(); }
  NamedTensors tensors() const;

  TrainOptions options_;
  Objective& objective_;
  torch::nn::Module& module_;
  Training training_;
  Observer observer_;

  NamedTensors weights_;  ///< parameters and buffers of the module
  NamedTensors best_weights_;
  Optimizer optimizer_;
  GradScaler scaler_;
  Schedule schedule_;
  graph::GraphBatch batch_, ahead_batch_;  ///< the next one, gathered while a device computes
  std::vector<int64_t> ahead_ids_;
  std::span<const int64_t> next_pack_;  ///< of the step after this one
  std::future<void> ahead_;
  nlohmann::json composition_;  ///< of the graphs of this epoch, with a sampler
  torch::Tensor loss_sum_;      ///< over the graphs of this epoch, double, on the device

  memory::MemoryMeter& meter_;
  memory::Cache cache_;
  NamedTensors buffers_, buffers_before_;  ///< of the module, and as they were before this step
  std::vector<std::span<const int64_t>> parts_;  ///< of this step: packs, or pieces of them
  std::size_t part_ = 0;                         ///< being computed
  int64_t splits_ = 0;
  int64_t peak_allocated_ = 0, peak_reserved_ = 0;  ///< of training, in this process

  Progress progress_;
  int64_t pack_ = 0;    ///< packs of this epoch done
  int64_t graphs_ = 0;  ///< graphs of this epoch done

  double seconds_ = 0;  // of training, in this process
  int64_t trained_ = 0;
  CheckpointWriter writer_;
};

}  // namespace kdgat::train
