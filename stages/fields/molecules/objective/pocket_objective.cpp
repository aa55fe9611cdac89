#include "fields/molecules/objective/pocket_objective.h"

#include <ATen/ATen.h>

#include "engine/objective/eval_guard.h"

namespace kdgat::molecules {

PocketObjective::PocketObjective(PocketModel model, const MoleculeStore& store,
                                 PocketLossOptions options, const std::vector<int32_t>& ligands)
    : model_(std::move(model)),
      store_(store),
      options_(std::move(options)),
      place_(store.ligands().size(), -1) {
  std::vector<int64_t> trained;
  for (const int32_t ligand : ligands) {
    int64_t& place = place_[static_cast<std::size_t>(ligand)];
    if (place >= 0) continue;
    place = std::ssize(trained);
    trained.push_back(ligand);
  }
  trained_ = torch::tensor(trained, torch::kLong).to(model_->catalogue.device());
}

torch::Tensor PocketObjective::encode(const graph::GraphBatch& batch, graph::NoiseKey noise) {
  std::vector<MoleculeView> views;
  const std::span ids(batch.graph_id.data(), static_cast<std::size_t>(batch.graphs));
  views.reserve(ids.size());
  for (const int64_t id : ids) views.push_back(view_of(store_, id));
  return model_->forward(model_->batch(views, ids, noise));
}

PocketTargets PocketObjective::targets_of(const graph::GraphBatch& batch) const {
  const at::Tensor& all = model_->catalogue;
  std::vector<int64_t> ligand(batch.y.data(), batch.y.data() + batch.graphs);
  PocketTargets out;
  out.ligand = torch::tensor(ligand, torch::kLong).to(all.device());
  out.vectors = all.index_select(0, out.ligand);
  if (options_.loss_fn != "catalogue") return out;
  std::vector<int64_t> place;
  place.reserve(ligand.size());
  for (const int64_t of : ligand) place.push_back(place_[static_cast<std::size_t>(of)]);
  out.place = torch::tensor(place, torch::kLong).to(all.device());
  out.catalogue = all.index_select(0, trained_);
  return out;
}

torch::Tensor PocketObjective::loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                                    graph::NoiseKey noise) {
  const at::Tensor predicted = encode(batch, noise).to(at::kFloat);
  return pocket_loss(predicted, targets_of(batch), options_) / static_cast<double>(totals.graphs);
}

torch::Tensor PocketObjective::predict(const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const objective::EvalGuard eval(*model_);
  return encode(batch, {}).to(at::kFloat).cpu().contiguous();
}

torch::Tensor PocketObjective::score(const graph::GraphBatch& batch) {
  const at::Tensor predicted = predict(batch);
  const at::Tensor all = model_->catalogue.cpu();
  const at::Tensor distance = options_.is_angular()
                                  ? 1 - unit_rows(predicted).matmul(unit_rows(all).t())
                                  : at::cdist(predicted, all);
  return std::get<0>(distance.min(1));
}

}  // namespace kdgat::molecules
