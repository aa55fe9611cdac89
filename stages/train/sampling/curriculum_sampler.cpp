#include "train/sampling/curriculum_sampler.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "file/safetensors.h"
#include "graph/random.h"
#include "train/sampling/difficulty.h"

namespace kdgat::train {
namespace {

// Streams of random numbers beside that of the order of an epoch (graph::make_pack_plan).
constexpr uint64_t kDraws = 0x6472617773ULL, kControl = 0x636F6E74726F6CULL;

void require_both(const Windows& windows) {
  if (!windows.attacks.empty() && !windows.benign.empty()) return;
  throw Error(ExitCode::kData,
              "sampling needs benign and attack windows; there are " +
                  std::to_string(windows.benign.size()) + " and " +
                  std::to_string(windows.attacks.size()),
              "use sampling=natural, or data with both");
}

/// `count` of `items`, each as likely; all of them if there are no more.
template <class T>
std::vector<T> choose(std::vector<T> items, int64_t count, graph::Random random) {
  const auto wanted = std::min(static_cast<std::size_t>(count), items.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    std::swap(items[i], items[i + random.below(items.size() - i)]);
  }
  items.resize(wanted);
  return items;
}

graph::Random draws(uint64_t seed, int64_t epoch) {
  return {seed ^ kDraws, static_cast<uint64_t>(epoch)};
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

RatioStep ratio_step(const SamplingOptions& options, int64_t max_epochs, int64_t attacks,
                     int64_t benign, int64_t epoch) {
  const double p = std::min(static_cast<double>(epoch) / static_cast<double>(max_epochs), 1.0);
  const auto between = [p](double start, double end) { return start + p * (end - start); };
  RatioStep out;
  out.ratio = between(options.curriculum_start_ratio, options.curriculum_end_ratio);
  out.percentile = between(options.difficulty_percentile, options.difficulty_percentile_end);
  out.wanted = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(attacks) * out.ratio));
  out.rank = std::min(static_cast<int64_t>(static_cast<double>(benign) * out.percentile / 100),
                      benign - 1);
  return out;
}

std::vector<double> unit_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size(), 0);
  if (values.size() < 2) return out;
  const auto last = static_cast<double>(values.size() - 1);
  for (std::size_t i = 0, end = 0; i < order.size(); i = end) {
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    const double rank = static_cast<double>(i + end - 1) / 2 / last;
    for (std::size_t k = i; k < end; ++k) out[order[k]] = rank;
  }
  return out;
}

BalancedSampler::BalancedSampler(Windows windows, uint64_t seed)
    : windows_(std::move(windows)), seed_(seed) {
  require_both(windows_);
}

std::vector<int64_t> BalancedSampler::draw(int64_t epoch, nlohmann::json& composition) {
  const auto attacks = static_cast<int64_t>(windows_.attacks.size());
  return with_attacks(windows_, choose(windows_.benign, attacks, draws(seed_, epoch)), composition);
}

CurriculumSampler::CurriculumSampler(const SamplingOptions& options, int64_t max_epochs,
                                     Windows windows, uint64_t seed, Score score)
    : options_(options),
      max_epochs_(max_epochs),
      windows_(std::move(windows)),
      seed_(seed),
      score_(std::move(score)) {
  require_both(windows_);
  if (!options_.use_vgae_mining) windows_.difficulty = random_difficulty(0);
  const std::vector<double>& given = windows_.difficulty;
  if (given.size() != windows_.benign.size()) {
    throw Error(ExitCode::kData, std::to_string(given.size()) + " difficulties for " +
                                     std::to_string(windows_.benign.size()) + " benign windows");
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (std::isfinite(given[i])) continue;
    throw Error(ExitCode::kData,
                "the difficulty of graph " + std::to_string(windows_.benign[i]) + " is not finite");
  }
  identity_ = graph::hash_bytes(given.data(), given.size() * sizeof(double));
  difficulty_B_ = at::empty({static_cast<int64_t>(given.size())}, at::kDouble);
  set_difficulty(given);
}

void CurriculumSampler::prepare(int64_t epoch, const std::function<void()>& check) {
  const int64_t every = options_.difficulty_cache_update;
  if (every == 0 || epoch == 0 || epoch % every != 0) return;
  if (!options_.use_vgae_mining) {
    set_difficulty(random_difficulty(epoch / every));
    return;
  }
  const std::vector<float> scores = score_(windows_.benign, check);
  check_finite(windows_.benign, scores, "the score");
  std::vector<double> blend = unit_ranks({scores.begin(), scores.end()});
  const std::vector<double> given = unit_ranks(windows_.difficulty);
  for (std::size_t i = 0; i < blend.size(); ++i) blend[i] = (blend[i] + given[i]) / 2;
  set_difficulty(blend);
}

std::vector<int64_t> CurriculumSampler::draw(int64_t epoch, nlohmann::json& composition) {
  const int64_t every = options_.difficulty_cache_update;
  if (every > 0 && epoch >= every) composition["scored_in_epoch"] = epoch / every * every + 1;
  const std::vector<int64_t> chosen = options_.curriculum_schedule == "momentum"
                                          ? draw_momentum(epoch, composition)
                                          : draw_ratio(epoch, composition);
  const double* difficulty = difficulty_B_.const_data_ptr<double>();
  double sum = 0;
  std::vector<int64_t> benign;
  for (const int64_t i : chosen) {
    sum += difficulty[i];
    benign.push_back(windows_.benign[static_cast<std::size_t>(i)]);
  }
  composition["mean_difficulty"] = chosen.empty() ? 0 : sum / static_cast<double>(chosen.size());
  return with_attacks(windows_, std::move(benign), composition);
}

/// Positions in windows_.benign.
std::vector<int64_t> CurriculumSampler::draw_ratio(int64_t epoch,
                                                   nlohmann::json& composition) const {
  const auto benign = static_cast<int64_t>(windows_.benign.size());
  const RatioStep step = ratio_step(options_, max_epochs_,
                                    static_cast<int64_t>(windows_.attacks.size()), benign, epoch);
  const double* difficulty = difficulty_B_.const_data_ptr<double>();
  std::vector<double> sorted(difficulty, difficulty + benign);
  std::nth_element(sorted.begin(), sorted.begin() + step.rank, sorted.end());
  const double threshold = sorted[static_cast<std::size_t>(step.rank)];
  std::vector<int64_t> pool;
  for (int64_t i = 0; i < benign; ++i) {
    if (difficulty[i] >= threshold) pool.push_back(i);
  }
  composition["ratio_wanted"] = step.ratio;
  composition["percentile"] = step.percentile;
  composition["threshold"] = threshold;
  composition["pool"] = pool.size();
  return choose(std::move(pool), step.wanted, draws(seed_, epoch));
}

/// Positions in windows_.benign.
std::vector<int64_t> CurriculumSampler::draw_momentum(int64_t epoch,
                                                      nlohmann::json& composition) const {
  const auto benign = static_cast<double>(windows_.benign.size());
  const double least = std::min(benign, static_cast<double>(windows_.attacks.size()));
  const double tau =
      options_.momentum_tau > 0 ? options_.momentum_tau : static_cast<double>(max_epochs_) / 3;
  const double natural = 1 - std::exp(-static_cast<double>(epoch) / tau);
  const auto count = static_cast<int64_t>((1 - natural) * least + natural * benign);
  const auto hard = static_cast<int64_t>(options_.hard_buffer_share * static_cast<double>(count));
  const double* difficulty = difficulty_B_.const_data_ptr<double>();
  std::vector<int64_t> order(windows_.benign.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return difficulty[a] > difficulty[b]; });
  composition["natural_share"] = natural;
  composition["hard_buffer"] = hard;
  composition["pool"] = order.size();
  if (hard > 0) composition["threshold"] = difficulty[order[static_cast<std::size_t>(hard - 1)]];
  std::vector<int64_t> chosen(order.begin(), order.begin() + hard);
  const std::vector<int64_t> others = choose(
      std::vector<int64_t>(order.begin() + hard, order.end()), count - hard, draws(seed_, epoch));
  chosen.insert(chosen.end(), others.begin(), others.end());
  return chosen;
}

std::vector<double> CurriculumSampler::random_difficulty(int64_t update) const {
  graph::Random random(seed_ ^ kControl, static_cast<uint64_t>(update));
  std::vector<double> out(windows_.benign.size());
  for (double& value : out) value = random.uniform();
  return out;
}

void CurriculumSampler::set_difficulty(const std::vector<double>& values) {
  std::copy(values.begin(), values.end(), difficulty_B_.data_ptr<double>());
}

}  // namespace kdgat::train
