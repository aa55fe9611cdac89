#include "engine/model/layers/norm.h"

#include "engine/kernels/full_precision.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/norm.h"
#include "engine/model/layers/count_plain.h"

namespace kdgat::model {

at::Tensor norm_relu_dropout(const at::Tensor& given_NC, torch::nn::BatchNorm1dImpl& norm, double p,
                             uint32_t layer, const kernels::BatchTensors& batch,
                             bool update_running) {
  const at::Tensor x_NC = kernels::full(given_NC);
  return kernels::kernels_for<kernels::NormKernels>(x_NC.device())
      .batch_norm(x_NC, norm, p, layer, batch, update_running);
}

Value count_norm_relu_dropout(StepCount& step, const Value& x,
                              const torch::nn::BatchNorm1dImpl& norm) {
  return count_norm_relu_dropout(step, x, false, elements_of({norm.weight, norm.bias}));
}

Value count_norm_relu_dropout(StepCount& step, const Value& x, bool of_graph,
                              const std::vector<double>& parameters) {
  Tape& tape = step.tape;
  if (step.is_plain()) {
    return plain_relu_dropout(tape, plain_norm(tape, x, of_graph, parameters));
  }
  const Held statistics = tape.hold(floats(of_graph ? kGraphs : kOnce, 2 * x.width));
  Value out = tape.value(x.rows, x.width);
  if (!of_graph) tape.hold(sums_of_blocks(x.width));
  tape.then(out,
            [&step, x, statistics, kept = out.data, of_graph, parameters](const Held& grad_out) {
              const Held grad = step.room_of(grad_out, x);
              const bool by_graph = of_graph && step.counts.sums_of_graphs;
              step.tape.hold(by_graph ? floats(kGraphs, 3 * x.width)
                                      : sums_of_blocks((of_graph ? 3 : 2) * x.width));
              step.tape.parameters(parameters);
              step.tape.pass(x, grad);
            });
  return out;
}

}  // namespace kdgat::model
