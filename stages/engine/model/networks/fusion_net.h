// FusionNet: one attack score from the state of a window, 15 numbers that an autoencoder and a
// classifier say of it (engine/objective/fusion_state.h); 14 of a graph whose nodes have no
// identifiers. Owns the scale of these numbers too. The score is the decision everywhere: above 0.5
// is an attack, or of the second class.
//
// G windows or graphs, S numbers of a state, H hidden units, K weights to choose from.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <optional>
#include <vector>

#include "engine/model/config/fusion_config.h"

namespace kdgat::model {

/// Where the numbers of a state stand.
struct FusionState {
  constexpr explicit FusionState(bool has_ids) : errors(has_ids ? 3 : 2) {}

  int64_t errors;  ///< from 0 on: features, neighbours and, where nodes have one, identifier
  constexpr int64_t latent() const { return errors; }  ///< mean, std, max, min
  constexpr int64_t autoencoder_confidence() const { return errors + 4; }
  constexpr int64_t probabilities() const { return errors + 5; }  ///< benign, attack
  constexpr int64_t attack() const { return errors + 6; }
  constexpr int64_t pooled() const { return errors + 7; }  ///< mean, std, max, min
  constexpr int64_t classifier_confidence() const { return errors + 11; }
  constexpr int64_t size() const { return errors + 12; }
};

/// dqn and bandit choose a weight alpha = k/(K-1) of the classifier for each window, weighted has
/// one for all; their score is (1-alpha) A + alpha p1, p1 the classifier's probability of attack
/// and A = anomaly(). mlp gives its own probability.
class FusionNetImpl : public torch::nn::Module {
 public:
  /// Throws Error(kData) for an unknown method.
  explicit FusionNetImpl(const FusionConfig& config);

  /// Takes mean and deviation from `states_GS` and the usual errors from `benign_GS`, their
  /// quantile `quantile`; both [., S] and not empty.
  void set_scale(const at::Tensor& states_GS, const at::Tensor& benign_GS, double quantile);

  /// A = clip(0.4 e0 + 0.35 e1 + 0.25 e2, 0, 1), [G]; each error divided by twice the quantile
  /// given to set_scale(), so that a window as odd as that benign one has A = 0.5. Without e2 the
  /// two weights share its own, in their proportion.
  at::Tensor anomaly(const at::Tensor& states_GS) const;
  /// Units of the last hidden layer, [G, H]; of standardised numbers, at most 10 deviations.
  at::Tensor hidden(const at::Tensor& states_GS);
  /// Values of the K weights (dqn, bandit) or the logit of attack (mlp), [G, K or 1].
  at::Tensor forward(const at::Tensor& states_GS);
  /// The chosen weights, [G]; not of mlp.
  at::Tensor alpha(const at::Tensor& states_GS);
  /// In [0, 1], [G].
  at::Tensor score(const at::Tensor& states_GS);
  /// (1-alpha) A + alpha p1, [G].
  at::Tensor fused(const at::Tensor& states_GS, const at::Tensor& alpha_G) const;

  const FusionConfig& config() const { return config_; }
  FusionState state() const { return FusionState(config_.has_ids); }
  torch::nn::Linear& last() { return last_; }

  at::Tensor fixed_alpha;                ///< weighted's one weight, a scalar
  std::optional<at::Generator> dropout;  ///< where dropout draws from; none = LibTorch's own

 private:
  FusionConfig config_;
  std::vector<torch::nn::Linear> linears_;
  std::vector<torch::nn::LayerNorm> norms_;
  torch::nn::Linear last_{nullptr};
  at::Tensor mean_S_, deviation_S_, usual_errors_;
};
TORCH_MODULE(FusionNet);

FusionNet make_model(const FusionConfig& config);

}  // namespace kdgat::model
