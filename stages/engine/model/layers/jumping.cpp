#include "engine/model/layers/jumping.h"

#include <algorithm>

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

Value JumpingLstmImpl::count(StepCount& step, const std::vector<Value>& states) const {
  Tape& tape = step.tape;
  const auto layers = static_cast<double>(states.size());
  const double width = states.front().width;
  const Value stacked = step.tape.joined(states, kNodes, layers * width);
  const Value read = count_read(step, stacked, layers);
  const Value rows = step.tape.joined({read}, kNodes, read.width);  // by node, for the product
  const Value scores = tape.value(kNodes, layers);
  tape.then(scores, [&tape, rows, parameters = elements_of({att->weight, att->bias})](const Held&) {
    tape.give(rows);
    tape.parameters(parameters);
  });
  const Value weights = tape.elementwise(scores, Keeps::kResult);
  const Value products = tape.value(kNodes, layers * width);
  tape.then(products, [&tape, stacked, weights](const Held&) {
    tape.give(stacked);
    const Held full = tape.hold(stacked.bytes());
    tape.give(weights);
  });
  return step.tape.joined({products}, kNodes, width);
}

/// Both directions of the LSTM, always in 32 bits. oneDNN keeps for each step four gates and a row
/// of work, and five states before and after; what else backward needs was measured.
Value JumpingLstmImpl::count_read(StepCount& step, const Value& stacked, double steps) const {
  Tape& tape = step.tape;
  const auto nodes = [](double columns) { return floats(kNodes, columns); };
  const auto units = static_cast<double>(lstm->options.hidden_size());
  const auto width = static_cast<double>(lstm->options.input_size());
  const double workspace =
      5 * steps * units + (steps + 1) * (4 * units + 6 * std::max(width, units));
  const double scratch = (6.5 + 5 * steps) * units, weights = 4 * units * (width + units);
  const Value input = step.tape.joined({stacked}, kNodes, stacked.width);  // by step
  const Held initial = tape.hold(nodes(4 * units));
  std::vector<Value> ways;
  for (int way = 0; way < 2; ++way) {
    const Value out = tape.value(kNodes, steps * units);
    const Held last = tape.hold(nodes(2 * units)), kept = tape.hold(nodes(workspace));
    tape.hold(nodes(6.5 * units));
    tape.then(out, [&tape, input, initial, all = out.data, last, kept, scratch, units, width,
                    weights, nodes](const Held&) {
      tape.hold(input.bytes() + nodes(scratch) + floats(kOnce, 2 * weights));
      tape.give(input);
      tape.parameters({4 * units * width, 4 * units * units, 4 * units, 4 * units});
    });
    ways.push_back(out.without_data());
  }
  Value read = step.tape.joined(ways, kNodes, 2 * steps * units);
  tape.hold(nodes(4 * units));  // last states, side by side
  return read;
}

}  // namespace kdgat::model
