// Options of the distill stage. The defaults are the published students.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "autoencoder/autoencoder_options.h"
#include "classifier/classifier_options.h"

namespace kdgat::distill {

/// Every option of the classifier, and those of the autoencoder that differ, under their published
/// names.
struct DistillOptions : classifier::ClassifierOptions, autoencoder::SharedOptions {
  std::string model = "classifier";
  std::vector<int64_t> vgae_hidden_dims = model::vgae_student().hidden_dims;
  int64_t vgae_latent_dim = model::vgae_student().latent_dim;
  int64_t vgae_heads = model::vgae_student().heads;
  int64_t vgae_embedding_dim = model::vgae_student().embedding_dim;
  double vgae_dropout = model::vgae_student().dropout;

  DistillOptions() {
    static_cast<model::GatSizes&>(*this) = model::gat_student();
    use_kd = true;
  }

  static auto table() {
    using O = DistillOptions;
    return std::tuple_cat(
        std::tuple{
            field("model", &O::model, Purpose::kModel,
                  "What the student is: it needs a teacher of the same kind.")
                .choices({"classifier", "autoencoder"}),
            field("vgae_hidden_dims", &O::vgae_hidden_dims, Purpose::kModel,
                  "Widths of the encoder of an autoencoder.")
                .range(1, 65536),
            field("vgae_latent_dim", &O::vgae_latent_dim, Purpose::kModel,
                  "Width of the latent layer of an autoencoder.")
                .range(1, 65536),
            field("vgae_heads", &O::vgae_heads, Purpose::kModel,
                  "Attention heads of the first encoder layer of an autoencoder.")
                .range(1, 1024),
            field("vgae_embedding_dim", &O::vgae_embedding_dim, Purpose::kModel,
                  "Width of the embedding of an identifier in an autoencoder.")
                .range(1, 65536),
            field("vgae_dropout", &O::vgae_dropout, Purpose::kModel,
                  "Dropout rate of an autoencoder.")
                .range(0, 0.99),
            field("train_on", &O::train_on, Purpose::kData,
                  "Of an autoencoder: benign windows, or all, attacks too, as published.")
                .choices({"benign", "all"}),
            field("kd_latent_weight", &O::kd_latent_weight, Purpose::kTeacher,
                  "Weight of an autoencoder's latent layer within the teacher's part of the loss.")
                .alias("kd_vgae_latent_weight")
                .range(0, 1e6),
            field(
                "kd_reconstruction_weight", &O::kd_reconstruction_weight, Purpose::kTeacher,
                "Weight of an autoencoder's reconstruction within the teacher's part of the loss.")
                .alias("kd_vgae_recon_weight")
                .range(0, 1e6)},
        classifier::ClassifierOptions::table());
  }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> out = classifier::ClassifierOptions::validate();
    if (!use_kd) {
      out.push_back({"", "use_kd: false, and distilling is all that this stage does",
                     "without a teacher use the stage " + model});
    }
    return out;
  }

  const classifier::ClassifierOptions& of_classifier() const { return *this; }
  autoencoder::AutoencoderOptions of_autoencoder() const {
    autoencoder::AutoencoderOptions out;
    static_cast<train::TrainOptions&>(out) = *this;
    static_cast<objective::KdOptions&>(out) = *this;
    static_cast<model::InputForm&>(out) = *this;
    static_cast<autoencoder::SharedOptions&>(out) = *this;
    out.hidden_dims = vgae_hidden_dims;
    out.latent_dim = vgae_latent_dim;
    out.heads = vgae_heads;
    out.embedding_dim = vgae_embedding_dim;
    out.dropout = vgae_dropout;
    return out;
  }
};

}  // namespace kdgat::distill
