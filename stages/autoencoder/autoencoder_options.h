// Options of the autoencoder stage. The defaults are the published teacher.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "engine/model/config/form.h"
#include "engine/model/config/sizes.h"
#include "engine/objective/kd_options.h"
#include "engine/train/train_options.h"

namespace kdgat::autoencoder {

/// What the stage distill has under the same names.
struct SharedOptions {
  std::string train_on = "benign";
  double kd_latent_weight = 0.5;
  double kd_reconstruction_weight = 0.5;
};

struct AutoencoderOptions : train::TrainOptions,
                            objective::KdOptions,
                            model::VgaeForm,
                            model::VgaeSizes,
                            SharedOptions {
  double feature_weight = 1.0;
  double identifier_weight = 0.1;
  double neighbour_weight = 0.05;
  double kl_weight = 0.01;

  static auto table() {
    using O = AutoencoderOptions;
    return std::tuple_cat(
        std::tuple{
            field("hidden_dims", &O::hidden_dims, Purpose::kModel,
                  "Widths of the encoder; a last one equal to latent_dim is the latent layer.")
                .alias("vgae_hidden_dims")
                .range(1, 65536),
            field("latent_dim", &O::latent_dim, Purpose::kModel, "Width of the latent layer.")
                .alias("vgae_latent_dim")
                .range(1, 65536),
            field("heads", &O::heads, Purpose::kModel,
                  "Attention heads of the first encoder layer.")
                .alias("vgae_heads")
                .range(1, 1024),
            field("embedding_dim", &O::embedding_dim, Purpose::kModel,
                  "Width of the embedding of an identifier.")
                .alias("vgae_embedding_dim")
                .range(1, 65536),
            field("dropout", &O::dropout, Purpose::kModel, "Dropout rate.")
                .first()
                .alias("vgae_dropout")
                .range(0, 0.99),
            field("feature_weight", &O::feature_weight, Purpose::kLoss,
                  "Weight of the error of node features.")
                .range(0, 1e6),
            field("identifier_weight", &O::identifier_weight, Purpose::kLoss,
                  "Weight of the cross entropy of identifiers.")
                .range(0, 1e6),
            field("neighbour_weight", &O::neighbour_weight, Purpose::kLoss,
                  "Weight of the cross entropy of neighbours.")
                .range(0, 1e6),
            field("kl_weight", &O::kl_weight, Purpose::kLoss,
                  "Weight of the divergence of the latent layer.")
                .range(0, 1e6),
            field("train_on", &O::train_on, Purpose::kData,
                  "benign: windows labelled benign, or labelled graphs of the first class; all: "
                  "every one, "
                  "attacks too, as published.")
                .choices({"benign", "all"}),
            field("kd_latent_weight", &O::kd_latent_weight, Purpose::kTeacher,
                  "Weight of the teacher's latent layer within its part of the loss.")
                .alias("kd_vgae_latent_weight")
                .range(0, 1e6),
            field("kd_reconstruction_weight", &O::kd_reconstruction_weight, Purpose::kTeacher,
                  "Weight of the teacher's reconstruction within its part of the loss.")
                .alias("kd_vgae_recon_weight")
                .range(0, 1e6)},
        model::VgaeForm::table(), objective::KdOptions::table(), train::TrainOptions::table());
  }
};

}  // namespace kdgat::autoencoder
