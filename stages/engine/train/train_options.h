// Options that every training stage has. A stage's own options derive from these and join the
// tables with std::tuple_cat. Knows no model.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/memory/cache_policy.h"
#include "engine/memory/step_form.h"
#include "engine/train/metrics/metrics.h"
#include "kdgat/options.h"
#include "kdgat/stage.h"

namespace kdgat::train {

struct TrainOptions : memory::StepForm {
  double lr = 0.003;
  int64_t max_epochs = 300;
  int64_t batch_size = 4096;
  int64_t patience = 100;
  std::string optimizer = "adam";
  double weight_decay = 1e-4;
  double gradient_clip = 1.0;
  bool optimize_batch_size = true;
  std::string memory_estimation = "measured";
  double safety_factor = 0.5;
  int64_t min_steps_per_epoch = 10;
  bool use_scheduler = false;
  std::string scheduler_type = "cosine";
  int64_t scheduler_t_max = -1;
  int64_t scheduler_step_size = 50;
  double scheduler_gamma = 0.1;
  double scheduler_floor = 0;
  int64_t scheduler_patience = -1;
  std::string monitor_metric = "val_loss";
  std::string monitor_mode = "min";
  std::vector<std::string> cache_policy = {"auto"};
  int64_t clear_cache_every_n = 0;
  int64_t synchronize_every = 0;
  bool deterministic = false;
  int64_t log_every_n_steps = 50;
  double checkpoint_seconds = 60;

  static auto table() {
    using O = TrainOptions;
    return std::tuple{
        field("lr", &O::lr, Purpose::kOptimiser, "Learning rate.")
            .first("The learning rate. Where training does not get better, or jumps, try a third "
                   "of it, or three times as much.")
            .range(1e-8, 10),
        field("max_epochs", &O::max_epochs, Purpose::kLength, "Largest number of epochs.")
            .first("How long to train; `patience` ends it earlier. For a first look 20.")
            .alias("epochs")
            .alias("num_epochs")
            .range(1, 1e6),
        field("batch_size", &O::batch_size, Purpose::kMemory,
              "Graphs of one batch: an upper bound while optimize_batch_size is true, else exact.")
            .first("Graphs of a step: an upper bound, the plan takes what memory allows.")
            .range(1, 1e9),
        field("patience", &O::patience, Purpose::kLength,
              "Epochs without improvement after which training stops.")
            .first("Epochs without improvement after which training stops.")
            .range(1, 1e6),
        field("optimizer", &O::optimizer, Purpose::kOptimiser,
              "adam (weight decay as an L2 term) or adamw (decoupled weight decay).")
            .choices({"adam", "adamw"}),
        field("weight_decay", &O::weight_decay, Purpose::kOptimiser, "Weight decay.").range(0, 10),
        field("gradient_clip", &O::gradient_clip, Purpose::kOptimiser,
              "Largest norm of the gradient of a step; 0 = no clipping.")
            .alias("gradient_clip_val")
            .alias("grad_clip")
            .range(0, 1e9),
        field("accumulate_grad_batches", &O::accumulate_grad_batches, Purpose::kOptimiser,
              "Batches whose gradients make one step; the last, short group is stepped too.")
            .alias("accumulation_steps")
            .range(1, 1e6),
        field(
            "gradient_checkpointing", &O::gradient_checkpointing, Purpose::kMemory,
            "Compute layers again in the backward pass instead of keeping them: less memory, more "
            "time, the same result.")
            .runtime(),
        field("optimize_batch_size", &O::optimize_batch_size, Purpose::kMemory,
              "Let min_steps_per_epoch and the memory of the device lower batch_size."),
        field("memory_estimation", &O::memory_estimation, Purpose::kMemory,
              "measured: run a few batches to learn what they need (under 2 s); static: count from "
              "shapes alone.")
            .choices({"static", "measured"}),
        field("safety_factor", &O::safety_factor, Purpose::kMemory,
              "Share of the available memory a batch may need, less 0.15; at most 0.85 is used.")
            .range(0.01, 1),
        field("min_steps_per_epoch", &O::min_steps_per_epoch, Purpose::kMemory,
              "Steps an epoch has at least, while optimize_batch_size is true.")
            .range(1, 1e6),
        field("use_scheduler", &O::use_scheduler, Purpose::kOptimiser,
              "Change the learning rate during training."),
        field("scheduler_type", &O::scheduler_type, Purpose::kOptimiser,
              "cosine to scheduler_floor; step: times gamma every so many epochs; plateau: times "
              "gamma when the "
              "monitored metric does not improve for half of patience.")
            .choices({"cosine", "step", "plateau"}),
        field("scheduler_t_max", &O::scheduler_t_max, Purpose::kOptimiser,
              "Epochs until a cosine schedule reaches its end; -1 = max_epochs.")
            .range(-1, 1e6),
        field("scheduler_step_size", &O::scheduler_step_size, Purpose::kOptimiser,
              "Epochs between two steps of a step schedule.")
            .range(1, 1e6),
        field("scheduler_gamma", &O::scheduler_gamma, Purpose::kOptimiser,
              "Factor of the learning rate for step and plateau schedules.")
            .range(0, 1),
        field("scheduler_floor", &O::scheduler_floor, Purpose::kOptimiser,
              "Share of the learning rate that a cosine schedule ends at.")
            .range(0, 1)
            .later(),
        field("scheduler_patience", &O::scheduler_patience, Purpose::kOptimiser,
              "Epochs without improvement that a plateau schedule stands; -1 = half of patience.")
            .range(-1, 1e6)
            .later(),
        field("monitor_metric", &O::monitor_metric, Purpose::kLength,
              "What chooses the best epoch, stops early and drives a plateau schedule.")
            .choices(monitored()),
        field("monitor_mode", &O::monitor_mode, Purpose::kLength,
              "Whether less or more of monitor_metric is better.")
            .choices({"min", "max"}),
        field("precision", &O::precision, Purpose::kMemory,
              "Of training: 32 (or 32-true), bf16-mixed or 16-mixed (with loss scaling; slow on a "
              "CPU). Only matrix products run in 16 bits: parameters, attention scores, norms, "
              "reductions and losses stay in 32, and so do validation and scores.")
            .choices({"32", "32-true", "16-mixed", "bf16-mixed"}),
        field(
            "cache_policy", &O::cache_policy, Purpose::kMemory,
            "When memory kept for reuse is given back; every:N: steps, fragmentation:P: reserved "
            "over allocated above P, hygiene: the preset list of guide 002. Several are combined.")
            .choices(memory::CachePolicy::choices())
            .runtime(),
        field("clear_cache_every_n", &O::clear_cache_every_n, Purpose::kMemory,
              "Published name of cache_policy every:N; 0 = as cache_policy says.")
            .range(0, 1e9)
            .runtime(),
        field("synchronize_every", &O::synchronize_every, Purpose::kMemory,
              "Steps between two waits for the device; 0 = only where a number is needed.")
            .range(0, 1e9)
            .runtime(),
        field("deterministic", &O::deterministic, Purpose::kProgress,
              "Refuse operations whose results differ between runs on the same device."),
        field("log_every_n_steps", &O::log_every_n_steps, Purpose::kProgress,
              "Steps between two reports of the loss.")
            .range(1, 1e9)
            .runtime(),
        field("checkpoint_seconds", &O::checkpoint_seconds, Purpose::kProgress,
              "Time between two checkpoints; 0 = after every step.")
            .range(0, 1e9)
            .runtime()};
  }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems;
    memory::CachePolicy::parse(cache_policy, problems);
    const bool is_less_better = is_less_monitored(monitor_metric);
    if (is_less_better != (monitor_mode == "min")) {
      problems.push_back(
          {"", "monitor_mode: " + monitor_mode + " of " + monitor_metric + " is the worst epoch",
           std::string("use monitor_mode=") + (is_less_better ? "min" : "max")});
    }
    return problems;
  }
};

/// The options that can change results, for the identity of a checkpoint: those that came later as
/// far as they are not at their default.
template <class Options>
nlohmann::json result_options(const Options& options) {
  nlohmann::json out = nlohmann::json::object();
  const Options at_default;
  const auto add = [&](const auto& f) {
    if (f.is_runtime) return;
    if (f.is_later && options.*(f.member) == at_default.*(f.member)) return;
    out[f.name] = options.*(f.member);
  };
  std::apply([&](const auto&... f) { (add(f), ...); }, Options::table());
  return out;
}

}  // namespace kdgat::train
