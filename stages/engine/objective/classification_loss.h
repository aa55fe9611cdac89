// Losses of a classifier over logits. Which there are: loss_names.h.
#pragma once

#include <torch/types.h>

#include <string>

#include "engine/objective/loss_names.h"

namespace kdgat::objective {

struct ClassificationLoss {
  std::string name = loss_names().front();
  double gamma = 2;  ///< of focal
  double alpha = 0;  ///< of focal: weight of class 1, 1 - alpha of class 0; 0: no weights
  torch::Tensor class_weight{};  ///< [C] what a graph of a class counts; undefined = 1 each

  /// Over all graphs: logits [G, C], labels int64 [G] in 0 .. C-1. Throws Error(kUsage) for an
  /// unknown name.
  torch::Tensor sum(const torch::Tensor& logits_GC, const torch::Tensor& y_G) const;
};

}  // namespace kdgat::objective
