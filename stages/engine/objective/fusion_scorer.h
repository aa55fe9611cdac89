// The score of a fusion: its two models and the net that joins them. Owns all three.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/model/networks/fusion_net.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"

namespace kdgat::objective {

/// Names of the two models' files in the folder of a fusion's own.
constexpr const char* kFusionAutoencoder = "autoencoder.safetensors";
constexpr const char* kFusionClassifier = "classifier.safetensors";

/// The two models that are joined.
struct FusionInputs {
  std::unique_ptr<AutoencoderObjective> autoencoder;
  std::unique_ptr<ClassifierObjective> classifier;
};

/// In eval mode, on `device`. Throws Error(kData) if a file is damaged or of the other kind.
FusionInputs load_fusion_inputs(const std::filesystem::path& autoencoder,
                                const std::filesystem::path& classifier, torch::Device device);

/// The bytes of a file, to copy it and to compare its hash. Throws Error(kData).
std::string bytes_of(const std::filesystem::path& file);

class FusionScorer : public train::Scorer {
 public:
  /// The net runs on the CPU, the models where they are.
  FusionScorer(FusionInputs inputs, model::FusionNet net);

  /// FusionNet::score of each graph: above 0.5 is an attack.
  torch::Tensor score(const graph::GraphBatch& batch) override;
  /// Of mlp the log-odds, which do not saturate; else the score.
  torch::Tensor raw_score(const graph::GraphBatch& batch) override;
  double score_of(double raw_score) const override;
  bool with_edge_attr() const override { return inputs_.classifier->with_edge_attr(); }

 private:
  bool has_logit() const { return net_->config().method == "mlp"; }

  FusionInputs inputs_;
  model::FusionNet net_;
};

/// The scorer of `file`, whose two models stand beside it. Throws Error(kData) if one of them is
/// missing or not the file that the fusion was made with.
std::unique_ptr<train::Scorer> load_fusion(const file::SafetensorsFile& file,
                                           const model::FusionConfig& config, torch::Device device);

}  // namespace kdgat::objective
