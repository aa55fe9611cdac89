// Loss, score and predictions of a model that says something of whole graphs in space. Owns the
// model.
//
// G graphs, C classes.
#pragma once

#include <unordered_map>

#include "engine/train/objective.h"
#include "fields/space/model/graph_head.h"

namespace kdgat::space {

/// Cross entropy of the class y, or the squared error of the number `target` in its standard
/// deviations; a mean over the graphs of the step. Throws Error(kData) if a graph has none.
class GraphObjective : public train::Objective {
 public:
  /// `frozen`: the encoder's parameters get no gradient, now and by this objective.
  GraphObjective(GraphModel model, bool frozen);

  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override;
  /// Of two classes the probability of class 1, of more the largest; or the number.
  torch::Tensor score(const graph::GraphBatch& batch) override;
  torch::nn::Module& module() override { return *model_; }

  /// Probabilities [G,C], or numbers in the unit of the target [G]; float on the CPU, in eval mode,
  /// without gradients.
  torch::Tensor predict(const graph::GraphBatch& batch);

  GraphModel& model() { return model_; }

  /// Of a frozen encoder: what the head sees of a graph is computed once and kept, H numbers a
  /// graph. Only while all graphs are of one store, as they are known by their id.
  bool keep_readouts = false;

 private:
  torch::Tensor readouts(const graph::GraphBatch& batch);

  GraphModel model_;
  bool frozen_;
  std::unordered_map<int64_t, torch::Tensor> kept_;  ///< [H] by graph id
};

}  // namespace kdgat::space
