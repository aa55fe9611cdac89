#include "fusion/reward.h"

namespace kdgat::fusion {

at::Tensor reward(const model::FusionNet& net, const at::Tensor& states_GS,
                  const at::Tensor& labels_G, const at::Tensor& alpha_G) {
  const model::FusionState state = net->state();
  const at::Tensor anomaly = net->anomaly(states_GS);
  const at::Tensor p1 = states_GS.select(1, state.attack());
  const at::Tensor score = net->fused(states_GS, alpha_G);
  const at::Tensor is_attack = labels_G.eq(1), flagged = score.gt(0.5);
  const at::Tensor gap = (anomaly - p1).abs();
  const at::Tensor either = at::maximum(anomaly, p1);
  const at::Tensor trust = at::maximum(states_GS.select(1, state.autoencoder_confidence()),
                                       states_GS.select(1, state.classifier_confidence()))
                               .clamp(0, 1);
  const at::Tensor right =
      3 + (1 - gap) + 0.5 * at::where(is_attack, either, 1 - either) + 0.3 * trust;
  const at::Tensor wrong = -3 - gap - 1.5 * at::where(flagged, score, 1 - score);
  return at::where(is_attack.eq(flagged), right, wrong) + 0.3 * (1 - 2 * (alpha_G - 0.5).abs());
}

}  // namespace kdgat::fusion
