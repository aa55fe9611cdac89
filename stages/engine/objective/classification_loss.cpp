#include "engine/objective/classification_loss.h"

#include <cmath>
#include <cstddef>
#include <iterator>

#include "kdgat/rows.h"

namespace kdgat::objective {

namespace {

using torch::Tensor;

/// log(1 - p) of the class `right`, without cancellation.
Tensor log_of_others(const Tensor& log_p_GC, const Tensor& right_G1) {
  if (log_p_GC.size(1) == 2) return log_p_GC.gather(1, 1 - right_G1).squeeze(1);
  return log_p_GC.scatter(1, right_G1, -INFINITY).logsumexp(1);
}

Tensor cross_entropy(const ClassificationLoss&, const Tensor& logits_GC, const Tensor& y_G,
                     const Tensor& weight_C) {
  return torch::cross_entropy_loss(logits_GC, y_G, weight_C, at::Reduction::Sum);
}

/// Lin et al., arXiv 1708.02002: sum over graphs of a (1 - p)^gamma (-log p) with p the probability
/// of the true class; a = alpha for class 1 and 1 - alpha for class 0, or 1 if alpha is 0 (as it is
/// of more than two classes).
Tensor focal(const ClassificationLoss& loss, const Tensor& logits_GC, const Tensor& y_G,
             const Tensor& weight_C) {
  const Tensor both = logits_GC.log_softmax(1);
  const Tensor right = y_G.unsqueeze(1);
  const Tensor log_p = both.gather(1, right).squeeze(1);
  const Tensor log_q = log_of_others(both, right);
  Tensor out = -(loss.gamma * log_q).exp() * log_p;
  if (loss.alpha > 0) out = out * torch::where(y_G.eq(1), loss.alpha, 1 - loss.alpha);
  if (weight_C.defined()) out = out * weight_C.index_select(0, y_G);
  return out.sum();
}

/// In the order of kLosses; weights undefined: 1 each.
constexpr Tensor (*kSums[])(const ClassificationLoss& loss, const Tensor& logits_GC,
                            const Tensor& y_G, const Tensor& weight_C) = {cross_entropy, focal};
static_assert(std::size(kSums) == std::size(kLosses));

}  // namespace

Tensor ClassificationLoss::sum(const Tensor& logits_GC, const Tensor& y_G) const {
  const Tensor weight = class_weight.defined() ? class_weight.to(logits_GC.device()) : Tensor();
  const std::ptrdiff_t loss = &row_named(kLosses, "loss", name) - kLosses;
  return kSums[loss](*this, logits_GC, y_G, weight);
}

}  // namespace kdgat::objective
