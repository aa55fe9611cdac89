#include "engine/objective/class_scorer.h"

#include <optional>

#include "engine/objective/load_scorer.h"
#include "kdgat/error.h"

namespace kdgat::objective {

ClassScorer::ClassScorer(const model::TrainedModel& made, torch::Device device)
    : scorer_(load_scorer(made.path(), device)),
      classifier_(dynamic_cast<ClassifierObjective*>(scorer_.get())),
      autoencoder_(dynamic_cast<AutoencoderObjective*>(scorer_.get())) {
  if (autoencoder_ == nullptr) return;
  const std::optional<model::Decision> decision = model::decision_of(made.header);
  if (!decision) {
    throw Error(ExitCode::kData,
                made.path().string() +
                    ": an autoencoder without a threshold, as validation had not both classes",
                "train it with graphs of both classes in the validation part");
  }
  threshold_ = decision->threshold;
}

int64_t ClassScorer::classes() const {
  return classifier_ != nullptr ? classifier_->model()->config().classes : 2;
}

torch::Tensor ClassScorer::probabilities(const graph::GraphBatch& batch) {
  if (classifier_ != nullptr) return classifier_->probabilities(batch);
  torch::Tensor second_G = scorer_->score(batch);
  if (autoencoder_ != nullptr) {
    constexpr double kHalf = 0.5, kJustAbove = 0.5 + 6e-8;  // the next float
    const torch::Tensor error_G = second_G.to(torch::kDouble);
    second_G = error_G / (error_G + threshold_).clamp_min(1e-300);
    second_G = torch::where(error_G.gt(threshold_), second_G.clamp_min(kJustAbove),
                            second_G.clamp_max(kHalf))
                   .to(torch::kFloat);
  }
  return torch::stack({1 - second_G, second_G}, 1).contiguous();
}

}  // namespace kdgat::objective
