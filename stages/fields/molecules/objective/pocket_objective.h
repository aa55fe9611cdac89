// What training a pocket encoder minimises, and what it predicts. Owns the model, borrows the
// molecules.
//
// G molecules, W the width of an embedding.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/train/objective.h"
#include "fields/molecules/data/molecule_store.h"
#include "fields/molecules/model/pocket_model.h"
#include "fields/molecules/objective/pocket_loss.h"

namespace kdgat::molecules {

class PocketObjective : public train::Objective {
 public:
  /// `store` outlives it. `ligands`: those of the training molecules, among which the loss
  /// `catalogue` looks for the right one.
  PocketObjective(PocketModel model, const MoleculeStore& store, PocketLossOptions options,
                  const std::vector<int32_t>& ligands);

  /// A mean over the molecules of the step; each has a ligand. A molecule whose ligand is not one
  /// of the training molecules adds the loss among those and its own.
  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override;
  /// Distance of each to its nearest ligand.
  torch::Tensor score(const graph::GraphBatch& batch) override;
  torch::nn::Module& module() override { return *model_; }
  bool parts_differ() const override { return options_.is_joint(); }

  /// [G,W] float on the CPU, in eval mode, without gradients.
  torch::Tensor predict(const graph::GraphBatch& batch);

  PocketModel& model() { return model_; }
  const PocketLossOptions& options() const { return options_; }

 private:
  torch::Tensor encode(const graph::GraphBatch& batch, graph::NoiseKey noise);
  PocketTargets targets_of(const graph::GraphBatch& batch) const;

  PocketModel model_;
  const MoleculeStore& store_;
  PocketLossOptions options_;
  std::vector<int64_t> place_;  ///< of each ligand among those of training, -1 = none
  torch::Tensor trained_;       ///< int64: the ligands of training
};

}  // namespace kdgat::molecules
