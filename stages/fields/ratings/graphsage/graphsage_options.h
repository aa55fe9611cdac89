// Options of the graphsage stage. Names and values are the published ones, but for what the
// published training gets wrong: the clamp in training, the head's bias and the size of scores.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "kdgat/options.h"

namespace kdgat::graphsage {

struct GraphsageOptions {
  int64_t hidden_dim = 64;
  int64_t num_layers = 2;
  std::string aggregator = "max";
  double dropout = 0.1;
  bool bias_terms = false;
  std::string id_embeddings = "auto";
  std::string score = "scaled";
  std::string loss = "mse";
  double mse_weight = 1;
  double bpr_weight = 0.1;
  double bpr_l2 = 0;
  bool legacy_clamp = false;
  bool leave_target_out = false;
  double lr = 1e-3;
  double weight_decay = 1e-5;
  int64_t batch_size = 512;
  int64_t max_epochs = 20;
  int64_t patience = 5;
  double min_delta = 1e-4;
  double val_ratio = 0.1;
  int64_t top_k = 10;
  double relevant_rating = 4;
  int64_t cold_user_threshold = 17;
  int64_t cold_item_threshold = 10;
  bool full_ranking = true;
  bool write_predictions = true;
  double checkpoint_seconds = 60;

  static auto table() {
    using O = GraphsageOptions;
    return std::tuple{
        field("hidden_dim", &O::hidden_dim, Purpose::kModel,
              "Channels of the states of users and items.")
            .range(1, 4096),
        field("num_layers", &O::num_layers, Purpose::kModel, "Layers of messages.").range(1, 64),
        field("aggregator", &O::aggregator, Purpose::kModel,
              "What a node takes of its neighbours, by channel.")
            .choices({"max", "mean"}),
        field("dropout", &O::dropout, Purpose::kModel,
              "Dropout of states between layers and in the head.")
            .first()
            .range(0, 0.9),
        field("bias_terms", &O::bias_terms,
              "Learn a bias of each user and item, added to the rating."),
        field(
            "id_embeddings", &O::id_embeddings, Purpose::kModel,
            "Learn a row of each user and item beside their features; auto: where there are none.")
            .choices({"auto", "on", "off"}),
        field("score", &O::score,
              "Of a user and an item: scaled is the dot product of their states over the root of "
              "hidden_dim, plain the dot product alone, as published.")
            .choices({"scaled", "plain"}),
        field("loss", &O::loss, Purpose::kLoss,
              "mse: of ratings; bpr: ranks rated items above others; combined: both, weighted.")
            .alias("loss_type")
            .choices({"mse", "bpr", "combined"}),
        field("mse_weight", &O::mse_weight, Purpose::kLoss, "Of loss=combined: weight of mse.")
            .range(0, 1e6),
        field("bpr_weight", &O::bpr_weight, Purpose::kLoss, "Of loss=combined: weight of bpr.")
            .range(0, 1e6),
        field("bpr_l2", &O::bpr_l2,
              "With bpr: so many times the sum of all squared parameters is added to it; published "
              "is 0.01, which grows with the model. Not in the losses reported.")
            .range(0, 10),
        field(
            "legacy_clamp", &O::legacy_clamp,
            "Train as published: predictions are clamped to the range of ratings in training, too, "
            "and the head starts without the mean. Such a net may never learn."),
        field("leave_target_out", &O::leave_target_out,
              "Leave the pairs of a batch out of the graph while they are predicted, and those of "
              "validation until the test: published is a graph with all of them."),
        field("lr", &O::lr, Purpose::kOptimiser, "Learning rate of Adam.")
            .first()
            .alias("learning_rate")
            .range(1e-8, 10),
        field("weight_decay", &O::weight_decay, Purpose::kOptimiser, "Weight decay, as an L2 term.")
            .range(0, 10),
        field("batch_size", &O::batch_size, Purpose::kMemory,
              "Pairs of a step. Each step takes the whole graph: memory hardly depends on it.")
            .first()
            .range(1, 1 << 20),
        field("max_epochs", &O::max_epochs, Purpose::kLength, "Largest number of epochs.")
            .first()
            .alias("epochs")
            .alias("num_epochs")
            .range(1, 1e6),
        field("patience", &O::patience, Purpose::kLength,
              "Epochs without improvement after which training stops.")
            .first()
            .range(1, 1e6),
        field("min_delta", &O::min_delta, Purpose::kLength,
              "A smaller change of the validation loss is not an improvement.")
            .range(0, 10),
        field("val_ratio", &O::val_ratio, Purpose::kData,
              "Share of the train ratings kept for validation.")
            .range(0.001, 0.9),
        field("top_k", &O::top_k, Purpose::kComparison,
              "Length of the lists that ranking metrics evaluate.")
            .range(1, 10000),
        field("relevant_rating", &O::relevant_rating, Purpose::kComparison,
              "Items rated so or higher are relevant."),
        field("cold_user_threshold", &O::cold_user_threshold,
              "Users with fewer train ratings are cold.")
            .range(0, 1e9),
        field("cold_item_threshold", &O::cold_item_threshold,
              "Items with fewer train ratings are cold.")
            .range(0, 1e9),
        field("full_ranking", &O::full_ranking, Purpose::kComparison,
              "Judge also the ranking of all items a user has not rated in train."),
        field(
            "write_predictions", &O::write_predictions, Purpose::kComparison,
            "Write predictions.csv, the test ratings, and recommendations.csv, top_k items of each "
            "user.")
            .runtime(),
        field("checkpoint_seconds", &O::checkpoint_seconds, Purpose::kProgress,
              "Time between two checkpoints; 0 = after every step.")
            .range(0, 1e9)
            .runtime()};
  }

  bool has_bpr() const { return loss != "mse"; }
  std::vector<Diagnostic> validate() const {
    if (loss == "combined" && mse_weight == 0 && bpr_weight == 0) {
      return {{"", "mse_weight and bpr_weight are both 0: there is nothing to minimise", ""}};
    }
    return {};
  }
};

}  // namespace kdgat::graphsage
