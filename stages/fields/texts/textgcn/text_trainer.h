// TextTrainer: full-batch training on one graph. Owns optimiser, progress and checkpoints; borrows
// graph and model. Not the Trainer: there are no batches to draw, and the product that validates an
// epoch is the first one of the next.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/train/optimizer.h"
#include "engine/train/progress.h"
#include "fields/texts/model/text_gcn.h"
#include "fields/texts/textgcn/text_splits.h"
#include "fields/texts/textgcn/textgcn_options.h"
#include "kdgat/stage.h"

namespace kdgat::textgcn {

struct TextOutcome {
  int64_t epochs = 0;
  int64_t best_epoch = 0;    ///< whose weights are in the model
  nlohmann::json kept;       ///< {"train_loss", "val_loss", "val_accuracy"} of that epoch
  std::string stopped_by;    ///< "max_epochs", "mean_loss" or "best"
  double epoch_seconds = 0;  ///< median of this process, validation included; 0 = none
  int64_t checkpoints = 0;   ///< written, in this process
  double checkpoint_seconds = 0;
};

/// One epoch is one step on all training documents. The validation of an epoch needs the first
/// product of its new weights, which is also that of the next epoch: it is computed once, and an
/// epoch's numbers are reported when the next one begins.
class TextTrainer {
 public:
  /// What is borrowed outlives the trainer. `progress`: at its beginning, with the checkpoint there
  /// may be.
  TextTrainer(const TextGcnOptions& options, const TextSplits& splits, texts::TextGcn model,
              uint64_t seed, train::Progress progress, const Host& host);

  /// Throws Error with the host's code, after a checkpoint, when cancelled; Error(kStageFailed)
  /// when a loss is not finite.
  TextOutcome run();

 private:
  void resume();
  void check_cancelled();
  void save();
  void learn(at::Tensor sum);
  bool is_over(const at::Tensor& sum);
  nlohmann::json validate(const at::Tensor& sum);
  train::NamedTensors tensors() const;

  const TextGcnOptions& options_;
  const TextSplits& splits_;
  texts::TextGcn model_;
  uint64_t seed_;
  train::Progress progress_;
  const Host& host_;

  texts::ProductChain train_chain_, val_chain_;
  train::NamedTensors weights_;       ///< parameters and buffers
  train::NamedTensors best_weights_;  ///< with stop = best
  train::Optimizer optimizer_;

  double train_loss_ = 0;
  std::vector<double> val_losses_;  ///< of the epochs evaluated so far
  std::string stopped_by_ = "max_epochs";
  std::vector<double> seconds_;
};

}  // namespace kdgat::textgcn
