// The training of a recommender, whose net computes without LibTorch, so that the Trainer has no
// gradients to step with: epochs of shuffled pairs, validation, early stopping, checkpoints.
// Owns the order of pairs, the best weights and progress; borrows net and data. Its random numbers
// are functions of (seed, epoch, step): nothing global is drawn from.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/train/progress.h"
#include "fields/ratings/graphsage/graphsage_options.h"
#include "fields/ratings/graphsage/rating_data.h"
#include "fields/ratings/graphsage/rating_metrics.h"
#include "fields/ratings/model/sage.h"
#include "kdgat/stage.h"

namespace kdgat::graphsage {

struct FitOutcome {
  int64_t epochs = 0, steps = 0, best_epoch = 0;  ///< epochs from 1
  nlohmann::json best;                            ///< metrics of the best epoch
  double seconds = 0;                             ///< of steps, in this process
  int64_t timed_steps = 0;                        ///< that took them
  int64_t checkpoints = 0;
};

class RatingFit {
 public:
  /// `progress`: at its beginning, with the checkpoint there may be.
  RatingFit(const GraphsageOptions& options, const RatingData& data, ratings::SageNet& net,
            uint64_t seed, train::Progress progress, const Host* host);

  /// Leaves the best weights in the net. Throws Error with the host's code, after a checkpoint,
  /// when cancelled; Error(kStageFailed) when the loss is not finite.
  FitOutcome run();

  /// Predictions of pairs by the net as it is.
  Predictions predict(const Pairs& pairs);
  /// {"loss","rmse","mae"} of the validation pairs.
  nlohmann::json validate();
  /// Along which messages go: without validation pairs where leave_target_out says so, or all.
  void use_graph(bool whole);

 private:
  void resume();
  void save();
  void step(int64_t first);
  void train_epoch();
  void finish_epoch();
  void check_cancelled();
  train::NamedTensors tensors() const;
  ratings::PairLoss loss_rule() const;

  const GraphsageOptions& options_;
  const RatingData& data_;
  ratings::SageNet& net_;
  uint64_t seed_;
  train::Progress progress_;
  const Host* host_;
  std::optional<ReducedGraph> reduced_;
  at::Tensor best_weights_;

  std::vector<int32_t> order_;                   // pairs of this epoch
  std::vector<int32_t> user_, item_, negative_;  // of the batch
  std::vector<float> rating_;

  int64_t pair_ = 0;  // of this epoch
  double loss_sum_ = 0, best_loss_ = 0;
  double seconds_ = 0;
  int64_t timed_steps_ = 0;
};

}  // namespace kdgat::graphsage
