// What a trained model of any kind says of the classes of labelled graphs. Owns the model.
//
// G graphs, C classes.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "engine/model/config/trained_model.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"

namespace kdgat::objective {

class ClassScorer {
 public:
  /// Of a classifier, a fusion or an autoencoder, in eval mode on `device`. Throws Error(kData) if
  /// the file is damaged, or is of an autoencoder and has no threshold.
  ClassScorer(const model::TrainedModel& made, torch::Device device);

  int64_t classes() const;
  bool with_edge_attr() const { return scorer_->with_edge_attr(); }

  /// [G, C], float on the CPU; the class predicted is that of the largest, of equals the first. Of
  /// a fusion its score and what is left. An autoencoder knows no probabilities: in place of that
  /// of class 1 stands error / (error + threshold), which orders graphs as the error does and is
  /// above a half where the error is above the threshold.
  torch::Tensor probabilities(const graph::GraphBatch& batch);

  /// Null if it is another model. Its score is the error, its threshold threshold().
  AutoencoderObjective* autoencoder() { return autoencoder_; }
  double threshold() const { return threshold_; }

 private:
  std::unique_ptr<train::Scorer> scorer_;
  ClassifierObjective* classifier_;    ///< null, or the scorer
  AutoencoderObjective* autoencoder_;  ///< null, or the scorer
  double threshold_ = 0.5;
};

}  // namespace kdgat::objective
