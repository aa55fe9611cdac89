// Scorer: the score a trained model gives to a graph. Objective: what a step minimises beside, and
// all that the training loop knows of a model. Both own their models and know no optimiser,
// schedule, file or log.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/noise_key.h"
#include "engine/graph/pack.h"

namespace kdgat::train {

class Scorer {
 public:
  virtual ~Scorer() = default;

  /// Anomaly or attack score of each graph, [G] float on the CPU: in eval mode, without gradients
  /// or noise; the module's mode is restored.
  virtual torch::Tensor score(const graph::GraphBatch& batch) = 0;
  /// The score on a scale that does not saturate, [G] float on the CPU, as score(): log-odds where
  /// score() is a probability, otherwise score() itself.
  virtual torch::Tensor raw_score(const graph::GraphBatch& batch) { return score(batch); }
  /// score() of a raw score; increasing.
  virtual double score_of(double raw_score) const { return raw_score; }
  /// Whether batches must carry edge features.
  virtual bool with_edge_attr() const { return false; }
};

class Objective : public Scorer {
 public:
  /// Sum over this part divided by the totals of the step, a scalar on the model's device: the
  /// losses (and gradients) of the parts of a step add up to those of the step. Train or eval mode
  /// is the module's; noise is drawn only in training mode, and depends on `noise` and graph ids
  /// alone. `batch` must stay unchanged until backward has run.
  virtual torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                             graph::NoiseKey noise) = 0;

  virtual torch::nn::Module& module() = 0;
  /// Called when the optimiser has changed the weights.
  virtual void after_step() {}

  /// Named terms of the last loss, unweighted, detached, on the device; sums divided by totals.
  virtual std::vector<std::pair<std::string, torch::Tensor>> parts() const { return {}; }
  /// Statistics of a batch enter the loss: a split batch changes it.
  virtual bool parts_differ() const { return false; }
  /// Scores above it are attacks; none = validation data chooses it.
  virtual std::optional<double> threshold() const { return std::nullopt; }
};

}  // namespace kdgat::train
