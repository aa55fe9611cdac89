#include "engine/objective/fusion_scorer.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "engine/file/tensor_hash.h"
#include "engine/model/model_file.h"
#include "engine/objective/eval_guard.h"
#include "engine/objective/fusion_state.h"
#include "engine/objective/load_scorer.h"
#include "kdgat/error.h"
#include "kdgat/small_file.h"

namespace kdgat::objective {

namespace {

constexpr const char* kNeeds =
    "a fusion needs the files of its autoencoder and its classifier next to its own";

template <class Wanted>
std::unique_ptr<Wanted> load_as(const std::filesystem::path& file, torch::Device device,
                                const char* what) {
  std::unique_ptr<train::Scorer> scorer = load_scorer(file, device);
  auto* wanted = dynamic_cast<Wanted*>(scorer.get());
  if (wanted == nullptr) {
    throw Error(ExitCode::kData, file.string() + ": not " + what,
                "a fusion joins an autoencoder and a classifier");
  }
  scorer.release();  // NOLINT: the same object, owned by the result
  return std::unique_ptr<Wanted>(wanted);
}

void check_hash(const std::filesystem::path& file, const std::string& wanted) {
  if (file::hash_file(file, kNeeds) == wanted) return;
  throw Error(ExitCode::kData, file.string() + ": not the model that the fusion was made with",
              "copy the three files of the step together, or run the fusion again");
}

}  // namespace

FusionInputs load_fusion_inputs(const std::filesystem::path& autoencoder,
                                const std::filesystem::path& classifier, torch::Device device) {
  return {load_as<AutoencoderObjective>(autoencoder, device, "an autoencoder"),
          load_as<ClassifierObjective>(classifier, device, "a classifier")};
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in = regular_file(file);
  std::string out{std::istreambuf_iterator<char>(in), {}};
  if (in && !out.empty()) return out;
  throw Error(ExitCode::kData, "cannot read " + file.string(), kNeeds);
}

FusionScorer::FusionScorer(FusionInputs inputs, model::FusionNet net)
    : inputs_(std::move(inputs)), net_(std::move(net)) {}

torch::Tensor FusionScorer::score(const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const EvalGuard eval(*net_);
  return net_->score(fusion_states(*inputs_.autoencoder, *inputs_.classifier, batch)).contiguous();
}

torch::Tensor FusionScorer::raw_score(const graph::GraphBatch& batch) {
  if (!has_logit()) return score(batch);
  const torch::NoGradGuard no_grad;
  const EvalGuard eval(*net_);
  return net_->forward(fusion_states(*inputs_.autoencoder, *inputs_.classifier, batch))
      .squeeze(1)
      .contiguous();
}

double FusionScorer::score_of(double raw_score) const {
  return has_logit() ? 1 / (1 + std::exp(-raw_score)) : raw_score;
}

std::unique_ptr<train::Scorer> load_fusion(const file::SafetensorsFile& file,
                                           const model::FusionConfig& config,
                                           torch::Device device) {
  const std::filesystem::path folder = file.path().parent_path();
  check_hash(folder / kFusionAutoencoder, config.autoencoder);
  check_hash(folder / kFusionClassifier, config.classifier);
  const model::LeastSize least = config.least_size();
  model::require_room(file, least.numbers, least.tensors);
  model::FusionNet net = model::make_model(config);
  model::load_weights(*net, file);
  net->eval();
  return std::make_unique<FusionScorer>(
      load_fusion_inputs(folder / kFusionAutoencoder, folder / kFusionClassifier, device),
      std::move(net));
}

}  // namespace kdgat::objective
