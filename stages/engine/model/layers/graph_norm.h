// GraphNorm (Cai et al., arXiv 2009.03294) with PyTorch Geometric's parameter names, with ReLU and
// dropout in one pass. Statistics are of one graph: no batch, no running averages, the same in
// training and evaluation.
#pragma once

#include <torch/nn/module.h>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/layers/layer.h"
#include "engine/model/layers/step_count.h"

namespace kdgat::model {

class GraphNormImpl : public torch::nn::Module {
 public:
  explicit GraphNormImpl(int64_t channels);

  /// dropout(relu(weight * o / sqrt(mean(o^2) + 1e-5) + bias)) with o = x - mean_scale * mean(x),
  /// means over the nodes of each graph. `p` = 0 outside training.
  at::Tensor forward(const at::Tensor& x_NC, double p, uint32_t layer,
                     const kernels::BatchTensors& batch) const;
  Value count(StepCount& step, const Value& x) const;

  at::Tensor weight, bias, mean_scale;  ///< [C]
};
KDGAT_LAYER(GraphNorm);

}  // namespace kdgat::model
