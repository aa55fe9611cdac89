#include "engine/train/sampling/difficulty_sampler.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "engine/file/safetensors.h"
#include "engine/train/sampling/difficulty.h"

namespace kdgat::train {

DifficultySampler::DifficultySampler(const SamplingOptions& options, int64_t max_epochs,
                                     std::vector<int64_t> graphs, std::vector<double> given,
                                     const std::string& what, uint64_t seed, DifficultyScore score)
    : options_(options),
      max_epochs_(max_epochs),
      graphs_(std::move(graphs)),
      given_(std::move(given)),
      seed_(seed),
      score_(std::move(score)) {
  if (!options_.use_vgae_mining) given_ = random_difficulty(seed_, 0, graphs_.size());
  check_given(graphs_, given_, what);
  identity_ = file::hash_bytes(given_.data(), given_.size() * sizeof(double));
  difficulty_ = at::empty({static_cast<int64_t>(given_.size())}, at::kDouble);
  use(given_);
}

void DifficultySampler::prepare(int64_t epoch, const std::function<void()>& check) {
  const int64_t every = options_.difficulty_cache_update;
  if (every == 0 || epoch == 0 || epoch % every != 0) return;
  if (!options_.use_vgae_mining) {
    use(random_difficulty(seed_, epoch / every, graphs_.size()));
    return;
  }
  const std::vector<float> scores = score_(graphs_, check);
  check_finite(graphs_, scores, "the score");
  use(mixed({scores.begin(), scores.end()}));
}

void DifficultySampler::say_when_scored(int64_t epoch, nlohmann::json& composition) const {
  const int64_t every = options_.difficulty_cache_update;
  if (every > 0 && epoch >= every) composition["scored_in_epoch"] = epoch / every * every + 1;
}

void DifficultySampler::use(const std::vector<double>& values) {
  std::copy(values.begin(), values.end(), difficulty_.data_ptr<double>());
}

}  // namespace kdgat::train
