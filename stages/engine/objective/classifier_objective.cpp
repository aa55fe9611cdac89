#include "engine/objective/classifier_objective.h"

#include <cmath>
#include <string>

#include "engine/objective/eval_guard.h"
#include "kdgat/error.h"

namespace kdgat::objective {
namespace {

/// Classes of the graphs [G], where the logits [G, C] are; a copy, as a loss may outlive the batch.
torch::Tensor labels_of(const graph::GraphBatch& batch, const torch::Tensor& logits_GC) {
  const int64_t classes = logits_GC.size(1);
  for (int64_t g = 0; g < batch.graphs; ++g) {
    if (batch.y[g] < 0 || batch.y[g] >= classes) {
      throw Error(ExitCode::kData, "graph " + std::to_string(batch.graph_id[g]) + " has no label",
                  "a classifier is trained on labelled data: import files with an attack column");
    }
  }
  return kernels::copy_to(
      torch::from_blob(const_cast<int64_t*>(batch.y.data()), {batch.graphs}, torch::kLong),
      logits_GC.device());
}

}  // namespace

torch::Tensor ClassifierObjective::logits(const graph::GraphBatch& batch, graph::NoiseKey noise) {
  kernels::BatchTensors tensors = kernels::to_tensors(batch, device());
  tensors.noise = noise;
  return model_->forward(tensors);
}

torch::Tensor ClassifierObjective::loss(const graph::GraphBatch& batch,
                                        const graph::StepTotals& totals, graph::NoiseKey noise) {
  return loss_of(logits(batch, noise), batch, totals);
}

torch::Tensor ClassifierObjective::loss_of(const torch::Tensor& logits_GC,
                                           const graph::GraphBatch& batch,
                                           const graph::StepTotals& totals) {
  const torch::Tensor y_G = labels_of(batch, logits_GC);
  return criterion.sum(logits_GC.to(torch::kFloat), y_G) / static_cast<double>(totals.graphs);
}

void ClassifierObjective::count(model::StepCount& step, const memory::Value& logits) {
  memory::Tape& tape = step.tape;
  const memory::Held labels = tape.hold(model::kGraphs * model::kLong);
  const memory::Value logarithm = tape.elementwise(logits, memory::Keeps::kResult);
  tape.then(step.term(), [&tape, logarithm, labels](const memory::Held&) { tape.give(logarithm); });
}

torch::Tensor ClassifierObjective::score(const graph::GraphBatch& batch) {
  return raw_score(batch).sigmoid();
}

torch::Tensor ClassifierObjective::raw_score(const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const EvalGuard eval(*model_);
  const torch::Tensor logits_GC = logits(batch, {}).to(torch::kFloat);
  if (logits_GC.size(1) > 2) {
    const auto [best_G, which_G] = logits_GC.max(1, /*keepdim=*/true);
    const torch::Tensor others_GC = logits_GC.scatter(1, which_G, -INFINITY);
    return (best_G.squeeze(1) - others_GC.logsumexp(1)).cpu();
  }
  return (logits_GC.select(1, 1) - logits_GC.select(1, 0)).cpu();
}

torch::Tensor ClassifierObjective::probabilities(const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const EvalGuard eval(*model_);
  return logits(batch, {}).to(torch::kFloat).softmax(1).cpu();
}

torch::Tensor ClassifierObjective::difficulty(const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const EvalGuard eval(*model_);
  const torch::Tensor logits_GC = logits(batch, {}).to(torch::kFloat);
  const torch::Tensor y_G1 = labels_of(batch, logits_GC).unsqueeze(1);
  return -logits_GC.log_softmax(1).gather(1, y_G1).squeeze(1).cpu();
}

double ClassifierObjective::score_of(double raw_score) const {
  return 1 / (1 + std::exp(-raw_score));
}

}  // namespace kdgat::objective
