// LinUCB (Li et al., arXiv 1003.0146): a ridge regression of the reward for each arm, and the width
// of its confidence. Knows no net and no state.
//
// N observations, D features, K arms.
#pragma once

#include <ATen/core/Tensor.h>

namespace kdgat::fusion {

class LinUcb {
 public:
  LinUcb(int64_t arms, int64_t width, double ridge);

  /// The arm with the largest theta^T phi + exploration sqrt(phi^T A^-1 phi) for each row, [N].
  at::Tensor choose(const at::Tensor& phi_ND, double exploration) const;
  /// Adds observations: A += phi phi^T, b += reward phi of their arms. The inverses are updated by
  /// Sherman, Morrison and Woodbury, a block of observations of one arm at a time.
  void update(const at::Tensor& phi_ND, const at::Tensor& arm_N, const at::Tensor& reward_N);
  /// A^-1 b of each arm, [K, D] float.
  at::Tensor theta() const;

 private:
  at::Tensor inverse_KDD_;  ///< double: many small updates add up
  at::Tensor sum_KD_;
};

}  // namespace kdgat::fusion
