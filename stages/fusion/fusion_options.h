// Options of the fusion stage. Published names and values, but for method and dqn_gamma.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::fusion {

struct FusionOptions {
  std::string method = "mlp";
  int64_t fusion_episodes = 500;
  int64_t fusion_max_samples = 150000;
  int64_t max_val_samples = 30000;
  int64_t episode_sample_size = 20000;
  int64_t gpu_training_steps = 16;
  double fusion_lr = 0.001;
  int64_t validate_every = 50;
  double error_quantile = 0.95;
  double channel_false_alarms = 0;
  double fusion_weight = 0.85;
  int64_t alpha_steps = 21;
  int64_t mlp_hidden = 64;
  int64_t mlp_layers = 2;
  int64_t dqn_hidden = 576;
  int64_t dqn_layers = 3;
  double dqn_gamma = 0;
  double dqn_epsilon = 0.1;
  double dqn_epsilon_decay = 0.995;
  double dqn_min_epsilon = 0.01;
  int64_t dqn_buffer_size = 100000;
  int64_t dqn_batch_size = 128;
  int64_t dqn_target_update = 100;
  double bandit_ridge = 1;
  double bandit_exploration = 1;
  int64_t bandit_retrain = 50;

  static auto table() {
    using O = FusionOptions;
    return std::tuple{
        field(
            "method", &O::method,
            "mlp: a perceptron on the 15 numbers of a window, 14 of a labelled graph; dqn: a "
            "weight of the classifier for each graph by Q-learning, as published; bandit: the same "
            "by Neural-LinUCB; weighted: one weight for all graphs.")
            .choices({"mlp", "dqn", "bandit", "weighted"}),
        field("fusion_episodes", &O::fusion_episodes, Purpose::kLength, "Episodes of training.")
            .range(1, 1e6),
        field("fusion_max_samples", &O::fusion_max_samples,
              "Training graphs used at most; more are drawn by the seed.")
            .range(1, 1e9),
        field("max_val_samples", &O::max_val_samples,
              "Validation graphs used at most; more are drawn by the seed.")
            .range(1, 1e9),
        field("episode_sample_size", &O::episode_sample_size,
              "Training graphs seen in an episode, at most all.")
            .range(1, 1e9),
        field("gpu_training_steps", &O::gpu_training_steps,
              "Gradient steps of an episode, on any device.")
            .range(1, 1e6),
        field("fusion_lr", &O::fusion_lr, Purpose::kOptimiser, "Learning rate.").range(1e-8, 10),
        field("validate_every", &O::validate_every, Purpose::kLength,
              "Episodes between two validations; the best validated state is kept.")
            .range(1, 1e6),
        field("error_quantile", &O::error_quantile,
              "Quantile of the errors of benign training graphs that is an anomaly of 0.5.")
            .range(0.5, 1),
        field("channel_false_alarms", &O::channel_false_alarms, Purpose::kAlarms,
              "With a detector: false windows an hour that the fusion may add to it, set on benign "
              "validation windows; 0 = as few as they support.")
            .range(0, 1e6),
        field("fusion_weight", &O::fusion_weight, Purpose::kLoss,
              "Weight of the classifier for weighted; the autoencoder has the rest.")
            .range(0, 1),
        field("alpha_steps", &O::alpha_steps,
              "Weights from 0 to 1 that dqn and bandit choose from.")
            .range(2, 1001),
        field("mlp_hidden", &O::mlp_hidden, "Units of each layer for mlp and bandit.")
            .range(1, 65536),
        field("mlp_layers", &O::mlp_layers, "Hidden layers for mlp and bandit.").range(1, 64),
        field("dqn_hidden", &O::dqn_hidden, "Units of each layer for dqn.").range(1, 65536),
        field("dqn_layers", &O::dqn_layers, "Hidden layers for dqn.").range(1, 64),
        field("dqn_gamma", &O::dqn_gamma,
              "Discount of the next state, which is the same graph: 0 leaves the reward alone, "
              "published is 0.99.")
            .range(0, 0.999),
        field("dqn_epsilon", &O::dqn_epsilon, "Share of random weights in the first episode.")
            .range(0, 1),
        field("dqn_epsilon_decay", &O::dqn_epsilon_decay, "Factor of that share after an episode.")
            .range(0, 1),
        field("dqn_min_epsilon", &O::dqn_min_epsilon, "Least share of random weights.").range(0, 1),
        field("dqn_buffer_size", &O::dqn_buffer_size,
              "Newest decisions that dqn and bandit learn from.")
            .range(1, 1e8),
        field("dqn_batch_size", &O::dqn_batch_size, "Graphs or decisions of a gradient step.")
            .range(1, 1e6),
        field("dqn_target_update", &O::dqn_target_update,
              "Gradient steps between two copies to the target net.")
            .range(1, 1e6),
        field("bandit_ridge", &O::bandit_ridge, "Ridge of each weight's regression.")
            .range(1e-6, 1e6),
        field("bandit_exploration", &O::bandit_exploration,
              "Standard deviations added to the value of a weight when it is chosen in training.")
            .range(0, 1e3),
        field("bandit_retrain", &O::bandit_retrain,
              "Episodes between two trainings of the net below the regressions.")
            .range(1, 1e6)};
  }
};

}  // namespace kdgat::fusion
