#include "score/network.h"

#include <c10/core/InferenceMode.h>

#include <numeric>
#include <utility>
#include <vector>

#include "engine/objective/load_scorer.h"

namespace kdgat::score {
namespace {

/// Owns what a batch is gathered in, and the last scores.
class TorchScorer : public decision::GraphScorer {
 public:
  explicit TorchScorer(std::unique_ptr<train::Scorer> scorer) : scorer_(std::move(scorer)) {}

  std::span<const float> raw_scores(const graph::GraphArrays& graphs, int64_t count) override {
    const c10::InferenceMode inference;
    ids_.resize(static_cast<std::size_t>(count));
    std::iota(ids_.begin(), ids_.end(), int64_t{0});
    graph::gather(graphs, ids_, scorer_->with_edge_attr(), batch_);
    scores_ = scorer_->raw_score(batch_).contiguous();
    return {scores_.const_data_ptr<float>(), static_cast<std::size_t>(scores_.numel())};
  }
  double score_of(double raw) const override { return scorer_->score_of(raw); }

 private:
  std::unique_ptr<train::Scorer> scorer_;
  std::vector<int64_t> ids_;
  graph::GraphBatch batch_;
  torch::Tensor scores_;
};

}  // namespace

decision::WindowNetwork load_network(const std::filesystem::path& given, torch::Device device) {
  const model::TrainedModel made = model::open_model(given);
  decision::WindowNetwork out = decision::window_network(made);
  out.scorer = std::make_unique<TorchScorer>(objective::load_scorer(out.path, device));
  decision::check_ids(made, out);
  return out;
}

}  // namespace kdgat::score
