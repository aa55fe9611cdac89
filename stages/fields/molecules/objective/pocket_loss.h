// What training a pocket encoder minimises: how far predicted vectors are from those of the
// ligands.
//
// G molecules, W values of a vector, L ligands.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace kdgat::molecules {

/// mse: mean of squares. cosine: mean of 1 - cos. cosine_mse: both, weighted. infonce: symmetric
/// cross entropy of cos / temperature among the molecules of a batch, where another molecule of the
/// same ligand is no negative. catalogue: cross entropy of cos / temperature among the ligands.
struct PocketLossOptions {
  std::string loss_fn = "cosine";
  double cosine_weight = 0.7;
  double mse_weight = 0.3;
  double temperature = 0.07;

  /// Distances are angles, not Euclidean.
  bool is_angular() const { return loss_fn != "mse"; }
  /// A batch is more than the sum of its molecules.
  bool is_joint() const { return loss_fn == "infonce"; }
};

/// What the rows of a prediction are to be like.
struct PocketTargets {
  at::Tensor vectors;    ///< [G,W]
  at::Tensor ligand;     ///< [G] int64, equal for the same ligand
  at::Tensor catalogue;  ///< [L,W], of `catalogue` alone
  /// [G] int64: the row of the catalogue that is right, of `catalogue` alone; -1: none is, and the
  /// row of `vectors` stands beside the catalogue.
  at::Tensor place;
};

/// Sum over the rows; for a mean the caller divides by how many there are in the whole step. Of
/// infonce the mean over the batch times its rows.
at::Tensor pocket_loss(const at::Tensor& predicted, const PocketTargets& targets,
                       const PocketLossOptions& options);

/// Rows divided by their length; 1e-8 at least.
at::Tensor unit_rows(const at::Tensor& rows);

}  // namespace kdgat::molecules
