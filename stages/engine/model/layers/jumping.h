// Jumping knowledge with an LSTM (Xu et al., arXiv 1806.03536), with PyTorch Geometric's parameter
// names.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>

#include <vector>

#include "engine/model/layers/layer.h"
#include "engine/model/layers/step_count.h"

namespace kdgat::model {

/// Average of a node's states in all layers, weighted by the softmax of att over the outputs of a
/// bidirectional LSTM that reads them in order.
class JumpingLstmImpl : public torch::nn::Module {
 public:
  JumpingLstmImpl(int64_t channels, int64_t layers);
  /// `states`: of each layer, [N, channels].
  at::Tensor forward(const std::vector<at::Tensor>& states);
  Value count(StepCount& step, const std::vector<Value>& states) const;

  torch::nn::LSTM lstm{nullptr};  ///< of layers * channels / 2 units each way
  torch::nn::Linear att{nullptr};

 private:
  Value count_read(StepCount& step, const Value& stacked, double steps) const;
};
KDGAT_LAYER(JumpingLstm);

}  // namespace kdgat::model
