#include "engine/objective/number_objective.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/objective/eval_guard.h"
#include "kdgat/error.h"

namespace kdgat::objective {

NumberObjective::NumberObjective(model::GraphClassifier model, std::string loss)
    : model_(std::move(model)), loss_(std::move(loss)) {}

torch::Tensor NumberObjective::outputs(const graph::GraphBatch& batch, graph::NoiseKey noise) {
  kernels::BatchTensors tensors = kernels::to_tensors(batch, device());
  tensors.noise = noise;
  return model_->forward(tensors).to(torch::kFloat);
}

torch::Tensor NumberObjective::loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                                    graph::NoiseKey noise) {
  const int64_t targets = model_->config().classes;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const float* of_graph = batch.target.data() + g * targets;
    if (std::any_of(of_graph, of_graph + targets, [](float v) { return !std::isnan(v); })) continue;
    throw Error(ExitCode::kData, "graph " + std::to_string(batch.graph_id[g]) + " has no target",
                "leave graphs without one out");
  }
  const torch::Tensor output_GT = outputs(batch, noise);
  const torch::Tensor target_GT =
      kernels::copy_to(torch::from_blob(const_cast<float*>(batch.target.data()),
                                        {batch.graphs, targets}, torch::kFloat),
                       output_GT.device());
  const torch::Tensor wanted_GT = (target_GT - model_->target_mean) / model_->target_deviation;
  const torch::Tensor known_GT = wanted_GT.isnan().logical_not();
  const torch::Tensor gap_GT =
      torch::where(known_GT, output_GT - wanted_GT.nan_to_num(), torch::zeros_like(output_GT));
  const torch::Tensor zero_GT = torch::zeros_like(gap_GT);
  const torch::Tensor sum = loss_ == "mse" ? gap_GT.square().sum()
                            : loss_ == "mae"
                                ? gap_GT.abs().sum()
                                : torch::huber_loss(gap_GT, zero_GT, at::Reduction::Sum);
  return sum / static_cast<double>(totals.graphs * targets);
}

torch::Tensor NumberObjective::predict(const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const EvalGuard eval(*model_);
  return (outputs(batch, {}) * model_->target_deviation + model_->target_mean).cpu().contiguous();
}

torch::Tensor NumberObjective::score(const graph::GraphBatch& batch) {
  return predict(batch).select(1, 0).contiguous();
}

void NumberObjective::count(model::StepCount& step, const memory::Value& outputs) {
  memory::Tape& tape = step.tape;
  const memory::Held wanted = tape.hold(outputs.bytes() * 2);
  const memory::Value gap = tape.elementwise(outputs, memory::Keeps::kResult);
  tape.then(step.term(), [&tape, gap, wanted](const memory::Held&) { tape.give(gap); });
}

}  // namespace kdgat::objective
