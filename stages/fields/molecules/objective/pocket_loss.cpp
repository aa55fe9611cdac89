#include "fields/molecules/objective/pocket_loss.h"

#include <ATen/ATen.h>

#include <limits>

namespace kdgat::molecules {
namespace {

at::Tensor one_minus_cosine(const at::Tensor& predicted, const at::Tensor& wanted) {
  return (1 - (unit_rows(predicted) * unit_rows(wanted)).sum(1)).sum();
}

at::Tensor squares(const at::Tensor& predicted, const at::Tensor& wanted) {
  return (predicted - wanted).square().mean(1).sum();
}

at::Tensor infonce(const at::Tensor& predicted, const PocketTargets& targets, double temperature) {
  const at::Tensor& ligand = targets.ligand;
  const at::Tensor same = ligand.unsqueeze(1).eq(ligand.unsqueeze(0));
  const at::Tensor itself = at::eye(ligand.size(0), same.options());
  const at::Tensor cosine =
      (unit_rows(predicted).matmul(unit_rows(targets.vectors).t()) / temperature)
          .masked_fill(same.logical_and(itself.logical_not()),
                       -std::numeric_limits<double>::infinity());
  const at::Tensor label = at::arange(ligand.size(0), ligand.options());
  const auto sum = static_cast<int64_t>(at::Reduction::Sum);
  return (at::cross_entropy_loss(cosine, label, {}, sum) +
          at::cross_entropy_loss(cosine.t(), label, {}, sum)) /
         2;
}

at::Tensor among_catalogue(const at::Tensor& predicted, const PocketTargets& targets,
                           double temperature) {
  const at::Tensor unit = unit_rows(predicted), is_new = targets.place.lt(0);
  const at::Tensor own =
      (unit * unit_rows(targets.vectors))
          .sum(1)
          .masked_fill(is_new.logical_not(), -std::numeric_limits<double>::infinity());
  const at::Tensor cosine =
      at::cat({unit.matmul(unit_rows(targets.catalogue).t()), own.unsqueeze(1)}, 1);
  const at::Tensor label = targets.place.masked_fill(is_new, targets.catalogue.size(0));
  return at::cross_entropy_loss(cosine / temperature, label, {},
                                static_cast<int64_t>(at::Reduction::Sum));
}

}  // namespace

at::Tensor unit_rows(const at::Tensor& rows) {
  constexpr double kLeast = 1e-8;
  return rows / rows.norm(2, {1}, true).clamp_min(kLeast);
}

at::Tensor pocket_loss(const at::Tensor& predicted, const PocketTargets& targets,
                       const PocketLossOptions& options) {
  const at::Tensor& wanted = targets.vectors;
  if (options.loss_fn == "mse") return squares(predicted, wanted);
  if (options.loss_fn == "cosine") return one_minus_cosine(predicted, wanted);
  if (options.loss_fn == "cosine_mse") {
    return options.cosine_weight * one_minus_cosine(predicted, wanted) +
           options.mse_weight * squares(predicted, wanted);
  }
  if (options.loss_fn == "infonce") return infonce(predicted, targets, options.temperature);
  return among_catalogue(predicted, targets, options.temperature);
}

}  // namespace kdgat::molecules
