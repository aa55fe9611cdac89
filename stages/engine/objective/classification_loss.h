// Losses of a classifier over logits.
#pragma once

#include <torch/types.h>

namespace kdgat::objective {

/// Focal loss (Lin et al., arXiv 1708.02002): sum over graphs of a (1 - p)^gamma (-log p) with p
/// the probability of the true class; a = alpha for class 1 and 1 - alpha for class 0, or 1 if
/// alpha is 0 (as it is of more than two classes). Without `focal` cross entropy.
struct ClassificationLoss {
  bool focal = false;
  double gamma = 2;
  double alpha = 0;
  torch::Tensor class_weight{};  ///< [C] what a graph of a class counts; undefined = 1 each

  /// Over all graphs: logits [G, C], labels int64 [G] in 0 .. C-1.
  torch::Tensor sum(const torch::Tensor& logits_GC, const torch::Tensor& y_G) const;
};

}  // namespace kdgat::objective
