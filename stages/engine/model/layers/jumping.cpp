#include "engine/model/layers/jumping.h"

#include "engine/kernels/full_precision.h"

namespace kdgat::model {

JumpingLstmImpl::JumpingLstmImpl(int64_t channels, int64_t layers) {
  const int64_t units = layers * channels / 2;
  lstm = register_module(
      "lstm", torch::nn::LSTM(
                  torch::nn::LSTMOptions(channels, units).bidirectional(true).batch_first(true)));
  att = register_module("att", torch::nn::Linear(2 * units, 1));
}

at::Tensor JumpingLstmImpl::forward(const std::vector<at::Tensor>& states) {
  // 16-bit LSTMs are missing in fp16 on the CPU and round the state in every step elsewhere.
  const kernels::FullPrecision exact;
  const at::Tensor states_NLC = at::stack(states, 1);
  const at::Tensor read_NLU = std::get<0>(lstm->forward(states_NLC));
  return (states_NLC * att->forward(read_NLU).softmax(1)).sum(1);
}

}  // namespace kdgat::model
