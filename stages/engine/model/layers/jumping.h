// Jumping knowledge with an LSTM (Xu et al., arXiv 1806.03536), with PyTorch Geometric's parameter
// names.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>
#include <torch/nn/pimpl.h>

#include <vector>

namespace kdgat::model {

/// Average of a node's states in all layers, weighted by the softmax of att over the outputs of a
/// bidirectional LSTM that reads them in order.
class JumpingLstmImpl : public torch::nn::Module {
 public:
  JumpingLstmImpl(int64_t channels, int64_t layers);
  /// `states`: of each layer, [N, channels].
  at::Tensor forward(const std::vector<at::Tensor>& states);

  torch::nn::LSTM lstm{nullptr};  ///< of layers * channels / 2 units each way
  torch::nn::Linear att{nullptr};
};
TORCH_MODULE(JumpingLstm);

}  // namespace kdgat::model
