#include "objective/classification_loss.h"

namespace kdgat::objective {

torch::Tensor ClassificationLoss::sum(const torch::Tensor& logits_G2,
                                      const torch::Tensor& y_G) const {
  if (!focal) return torch::cross_entropy_loss(logits_G2, y_G, {}, at::Reduction::Sum);
  const torch::Tensor both = logits_G2.log_softmax(1);
  const torch::Tensor right = y_G.unsqueeze(1);
  const torch::Tensor log_p = both.gather(1, right).squeeze(1);
  // Of the wrong class: 1 - p without cancellation.
  const torch::Tensor log_q = both.gather(1, 1 - right).squeeze(1);
  torch::Tensor loss = -(gamma * log_q).exp() * log_p;
  if (alpha > 0) loss = loss * torch::where(y_G.eq(1), alpha, 1 - alpha);
  return loss.sum();
}

}  // namespace kdgat::objective
