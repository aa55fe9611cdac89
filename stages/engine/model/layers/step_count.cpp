#include "engine/model/layers/step_count.h"

#include <ATen/core/Tensor.h>

#include <utility>

namespace kdgat::model {

namespace {

constexpr double kRowsOfBlock = 256;  // each block has sums of its own

}  // namespace

Cost sums_of_blocks(double columns, const Cost& rows) {
  return floats(rows * (1 / kRowsOfBlock) + kOnce, columns);
}

std::vector<double> elements_of(std::initializer_list<at::Tensor> tensors) {
  std::vector<double> out;
  for (const at::Tensor& t : tensors) {
    if (t.defined()) out.push_back(static_cast<double>(t.numel()));
  }
  return out;
}

StepCount::StepCount(const FootprintOptions& of_step)
    : options(of_step), counts(kernel_counts(of_step.kernels)), tape(of_step.accumulating) {
  if (options.kernels != kernels::KernelSet::kCpu) tape.follow_blocks();
}

void StepCount::batch(int64_t node_features, int64_t edge_features) {
  input_ = (kGraphs * (kInt + 2 * kLong) +
            kNodes * (kFloat * static_cast<double>(node_features) + kInt) +
            kEdges * (kInt + kFloat * static_cast<double>(edge_features)) + kOnce * (2 * kInt)) *
           (counts.copies_batch ? 1 : 1.25);
  tape.enter("the input");
  keep(tape.hold(input_));
}

void StepCount::edges_by_source() {
  if (!counts.lists_by_source || has_lists_) return;
  has_lists_ = true;
  keep(tape.hold(kEdges * (2 * kInt) + kNodes * kInt));
}

Held StepCount::room_of(const Held& grad, const Value& x) {
  return counts.writes_over && grad.use_count() == 1 ? grad : tape.hold(x.bytes());
}

Value StepCount::checkpoint(const Value& x, const std::function<Value(const Value&)>& body) {
  return options.checkpointing ? tape.checkpoint(x, body) : body(x);
}

Value StepCount::term() {
  terms_.push_back(tape.value(kOnce, 1));
  return terms_.back();
}

void StepCount::distance(const Value& x, const Held& target) {
  tape.hold(x.bytes() * 2);  // the difference and its square
  tape.then(term(), [this, x, target](const Held&) { tape.give(x); });
}

memory::Footprint StepCount::finish(int64_t buffers, int64_t tables) {
  for (const Value& t : terms_) tape.give(t);
  tape.backward();
  memory::Footprint out;
  const double parameters = kFloat * tape.parameter_elements();
  out.embeddings = tables;
  out.gradients = static_cast<int64_t>(parameters);
  out.parameters = out.gradients + buffers - tables;
  out.optimizer =
      static_cast<int64_t>(2 * parameters + kFloat * static_cast<double>(tape.parameter_tensors()));
  out.weights_kept = out.parameters + out.embeddings;
  out.input = input_;
  out.margin = is_plain() ? 0.15 : 0.05;
  out.phases = tape.phases();
  if (!options.accumulating) {  // gradients are counted as held, but come only with backward
    for (memory::Phase& phase : out.phases) phase.cost.fixed -= parameters;
  }
  out.phases.push_back({"optimizer", input_});
  if (options.kernels != kernels::KernelSet::kCpu) out.rounding = tape.rounding();
  return out;
}

}  // namespace kdgat::model
