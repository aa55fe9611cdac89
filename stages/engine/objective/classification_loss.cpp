#include "engine/objective/classification_loss.h"

#include <cmath>

namespace kdgat::objective {

namespace {

/// log(1 - p) of the class `right`, without cancellation.
torch::Tensor log_of_others(const torch::Tensor& log_p_GC, const torch::Tensor& right_G1) {
  if (log_p_GC.size(1) == 2) return log_p_GC.gather(1, 1 - right_G1).squeeze(1);
  return log_p_GC.scatter(1, right_G1, -INFINITY).logsumexp(1);
}

}  // namespace

torch::Tensor ClassificationLoss::sum(const torch::Tensor& logits_GC,
                                      const torch::Tensor& y_G) const {
  const torch::Tensor weight =
      class_weight.defined() ? class_weight.to(logits_GC.device()) : torch::Tensor();
  if (!focal) return torch::cross_entropy_loss(logits_GC, y_G, weight, at::Reduction::Sum);
  const torch::Tensor both = logits_GC.log_softmax(1);
  const torch::Tensor right = y_G.unsqueeze(1);
  const torch::Tensor log_p = both.gather(1, right).squeeze(1);
  const torch::Tensor log_q = log_of_others(both, right);
  torch::Tensor loss = -(gamma * log_q).exp() * log_p;
  if (alpha > 0) loss = loss * torch::where(y_G.eq(1), alpha, 1 - alpha);
  if (weight.defined()) loss = loss * weight.index_select(0, y_G);
  return loss.sum();
}

}  // namespace kdgat::objective
