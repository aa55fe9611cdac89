#include "engine/train/sampling/curriculum_sampler.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "engine/file/safetensors.h"
#include "engine/train/sampling/difficulty.h"
#include "engine/train/sampling/draws.h"

namespace kdgat::train {
namespace {

void require_both(const Windows& windows) {
  if (!windows.attacks.empty() && !windows.benign.empty()) return;
  throw Error(ExitCode::kData,
              "sampling needs benign and attack windows; there are " +
                  std::to_string(windows.benign.size()) + " and " +
                  std::to_string(windows.attacks.size()),
              "use sampling=natural, or data with both");
}

std::vector<int64_t> with_attacks(const Windows& windows, std::vector<int64_t> benign,
                                  nlohmann::json& composition) {
  composition["attack"] = windows.attacks.size();
  composition["benign"] = benign.size();
  composition["ratio"] =
      static_cast<double>(benign.size()) / static_cast<double>(windows.attacks.size());
  benign.insert(benign.end(), windows.attacks.begin(), windows.attacks.end());
  return benign;
}

}  // namespace

BalancedSampler::BalancedSampler(Windows windows, uint64_t seed)
    : windows_(std::move(windows)), seed_(seed) {
  require_both(windows_);
}

std::vector<int64_t> BalancedSampler::draw(int64_t epoch, nlohmann::json& composition) {
  const auto attacks = static_cast<int64_t>(windows_.attacks.size());
  arrays::Random random = draws(seed_, epoch);
  return with_attacks(windows_, choose(windows_.benign, attacks, random), composition);
}

CurriculumSampler::CurriculumSampler(const SamplingOptions& options, int64_t max_epochs,
                                     Windows windows, uint64_t seed, Score score)
    : DifficultySampler(options, max_epochs, windows.benign, std::move(windows.difficulty),
                        "benign windows", seed, std::move(score)),
      windows_(std::move(windows)) {
  require_both(windows_);
}

std::vector<double> CurriculumSampler::mixed(const std::vector<double>& scores) const {
  return half_ranks(scores, given());
}

std::vector<int64_t> CurriculumSampler::draw(int64_t epoch, nlohmann::json& composition) {
  say_when_scored(epoch, composition);
  const std::vector<int64_t> chosen =
      is_momentum() ? draw_momentum(epoch, composition) : draw_ratio(epoch, composition);
  const double* hardness = difficulty();
  double sum = 0;
  std::vector<int64_t> benign;
  for (const int64_t i : chosen) {
    sum += hardness[i];
    benign.push_back(windows_.benign[static_cast<std::size_t>(i)]);
  }
  composition["mean_difficulty"] = chosen.empty() ? 0 : sum / static_cast<double>(chosen.size());
  return with_attacks(windows_, std::move(benign), composition);
}

/// Positions in windows_.benign.
std::vector<int64_t> CurriculumSampler::draw_ratio(int64_t epoch,
                                                   nlohmann::json& composition) const {
  const auto benign = static_cast<int64_t>(windows_.benign.size());
  const RatioStep step = ratio_step(options(), max_epochs(),
                                    static_cast<int64_t>(windows_.attacks.size()), benign, epoch);
  const double* hardness = difficulty();
  std::vector<double> sorted(hardness, hardness + benign);
  std::nth_element(sorted.begin(), sorted.begin() + step.rank, sorted.end());
  const double threshold = sorted[static_cast<std::size_t>(step.rank)];
  std::vector<int64_t> pool;
  for (int64_t i = 0; i < benign; ++i) {
    if (hardness[i] >= threshold) pool.push_back(i);
  }
  composition["ratio_wanted"] = step.ratio;
  composition["percentile"] = step.percentile;
  composition["threshold"] = threshold;
  composition["pool"] = pool.size();
  arrays::Random random = draws_of(epoch);
  return choose(std::move(pool), step.wanted, random);
}

/// Positions in windows_.benign.
std::vector<int64_t> CurriculumSampler::draw_momentum(int64_t epoch,
                                                      nlohmann::json& composition) const {
  const auto benign = static_cast<double>(windows_.benign.size());
  const double least = std::min(benign, static_cast<double>(windows_.attacks.size()));
  const double natural = natural_share(options(), max_epochs(), epoch);
  const auto count = static_cast<int64_t>((1 - natural) * least + natural * benign);
  const auto hard = static_cast<int64_t>(options().hard_buffer_share * static_cast<double>(count));
  const double* hardness = difficulty();
  std::vector<int64_t> order(windows_.benign.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  hardest_first(order, hardness);
  composition["natural_share"] = natural;
  composition["hard_buffer"] = hard;
  composition["pool"] = order.size();
  if (hard > 0) composition["threshold"] = hardness[order[static_cast<std::size_t>(hard - 1)]];
  arrays::Random random = draws_of(epoch);
  return hardest_and_others(std::move(order), hard, count, random);
}

}  // namespace kdgat::train
