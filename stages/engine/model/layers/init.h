// How weights start, as PyTorch Geometric does it.
#pragma once

#include <torch/nn/init.h>

#include <cmath>

namespace kdgat::model {

/// Glorot and Bengio's uniform distribution over the last two dimensions.
inline void glorot(const at::Tensor& weight) {
  const double bound = std::sqrt(6.0 / static_cast<double>(weight.size(-2) + weight.size(-1)));
  torch::nn::init::uniform_(weight, -bound, bound);
}

}  // namespace kdgat::model
