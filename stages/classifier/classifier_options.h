// Options of the classifier stage. The defaults are the published teacher.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "engine/model/config/form.h"
#include "engine/model/config/sizes.h"
#include "engine/objective/kd_options.h"
#include "engine/objective/loss_names.h"
#include "engine/train/sampling/sampling_options.h"
#include "engine/train/train_options.h"

namespace kdgat::classifier {

struct ClassifierOptions : train::TrainOptions,
                           train::SamplingOptions,
                           objective::KdOptions,
                           model::GatForm,
                           model::GatSizes {
  std::string loss = objective::loss_names().front();
  double focal_gamma = 2;
  double focal_alpha = 0;
  std::string class_weights = "none";
  std::string regression_loss = objective::number_loss_names().front();

  static auto table() {
    using O = ClassifierOptions;
    return std::tuple_cat(
        std::tuple{
            field("hidden", &O::hidden, Purpose::kModel,
                  "Channels of each attention head; of conv gin and none the width of a layer.")
                .first("Width of the layers. Memory and time grow with it. An autoencoder has "
                       "`hidden_dims`.")
                .alias("gat_hidden")
                .range(1, 65536),
            field("layers", &O::layers, Purpose::kModel,
                  "Layers of messages, joined by jumping knowledge.")
                .first("Number of layers. Two or three are usual.")
                .alias("gat_layers")
                .range(1, 64),
            field("heads", &O::heads, Purpose::kModel, "Attention heads of each layer.")
                .alias("gat_heads")
                .range(1, 1024),
            field("embedding_dim", &O::embedding_dim, Purpose::kModel,
                  "Width of the embedding of an identifier.")
                .alias("gat_embedding_dim")
                .range(1, 65536),
            field("fc_layers", &O::fc_layers, Purpose::kModel,
                  "Layers of the perceptron after pooling.")
                .alias("gat_fc_layers")
                .range(1, 64),
            field("dropout", &O::dropout, Purpose::kModel, "Dropout rate.")
                .first("More of it where training is good and validation is not.")
                .alias("gat_dropout")
                .range(0, 0.99),
            field("loss", &O::loss, Purpose::kLoss,
                  "What is minimised. " + objective::losses_help() + ".")
                .choices(objective::loss_names()),
            field("focal_gamma", &O::focal_gamma, Purpose::kLoss,
                  "Exponent of the focal loss; 0 is cross entropy.")
                .range(0, 10),
            field("focal_alpha", &O::focal_alpha, Purpose::kLoss,
                  "Weight of attacks in the focal loss, benign ones have the rest; 0: no weights.")
                .range(0, 1),
            field(
                "class_weights", &O::class_weights,
                "What a graph counts in the loss: the same, or balanced, by how rare its class is.")
                .choices({"none", "balanced"})
                .later(),
            field("regression_loss", &O::regression_loss, Purpose::kLoss,
                  "What is minimised where numbers are predicted, in deviations of each target. " +
                      objective::number_losses_help() + ".")
                .choices(objective::number_loss_names())
                .later()},
        model::GatForm::table(), train::SamplingOptions::table(), objective::KdOptions::table(),
        train::TrainOptions::table());
  }
};

}  // namespace kdgat::classifier

namespace kdgat {
extern template nlohmann::json train::result_options(const classifier::ClassifierOptions& options);
}  // namespace kdgat
