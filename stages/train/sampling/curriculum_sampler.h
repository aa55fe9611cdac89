// Samplers of benign and attack windows: balanced, and two curricula by difficulty. Pure: no files,
// no model; scores come from a closure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "train/sampler.h"
#include "train/sampling/sampling_options.h"

namespace kdgat::train {

/// Windows to choose among, each once.
struct Windows {
  std::vector<int64_t> attacks;    ///< [A] graph ids
  std::vector<int64_t> benign;     ///< [B] graph ids
  std::vector<double> difficulty;  ///< [B] more is harder; empty where it is not used
};

/// What a ratio schedule asks for in an epoch, counted from 0. With p = min(epoch / max_epochs, 1)
/// both go from start to end in a straight line, as published.
struct RatioStep {
  double ratio = 0;       ///< benign windows for each attack
  double percentile = 0;  ///< the pool: benign windows at least as hard as this percentile
  int64_t wanted = 0;     ///< max(1, floor(A ratio)) benign windows
  int64_t rank = 0;       ///< min(floor(B percentile / 100), B - 1): threshold = sorted[rank]
};
RatioStep ratio_step(const SamplingOptions& options, int64_t max_epochs, int64_t attacks,
                     int64_t benign, int64_t epoch);

/// Ranks of `values` over [0, 1], equal values at the mean of theirs; a single value is at 0.
std::vector<double> unit_ranks(const std::vector<double>& values);

/// Every attack and as many benign windows, as far as there are, drawn anew each epoch.
class BalancedSampler : public Sampler {
 public:
  /// Throws Error(kData) if a class is empty.
  BalancedSampler(Windows windows, uint64_t seed);

  std::vector<int64_t> draw(int64_t epoch, nlohmann::json& composition) override;

 private:
  Windows windows_;
  uint64_t seed_;
};

/// Every attack, and benign windows by difficulty:
///  ratio     min(wanted, pool) of the pool of ratio_step(). The published code takes the first of
///            the pool in the order of the data set, ever the same drive; here they are drawn.
///  momentum  floor((1 - p) min(A, B) + p B) windows with p = 1 - exp(-epoch / tau): balanced at
///            first, natural in the end. Of these floor(hard_buffer_share ...) are the hardest
///            there are, the others drawn from the rest.
/// With difficulty_cache_update = N, at the start of every N-th epoch but the first the difficulty
/// becomes (rank of the difficulty given + rank of the score of the model in training) / 2. With
/// use_vgae_mining false it is random, and random again at those epochs.
class CurriculumSampler : public Sampler {
 public:
  /// Scores of graphs by the model in training, calling `check` now and then; may be empty if it is
  /// never asked.
  using Score = std::function<std::vector<float>(const std::vector<int64_t>& ids,
                                                 const std::function<void()>& check)>;

  /// Throws Error(kData) if a class is empty or difficulties are missing or not finite.
  CurriculumSampler(const SamplingOptions& options, int64_t max_epochs, Windows windows,
                    uint64_t seed, Score score);

  void prepare(int64_t epoch, const std::function<void()>& check) override;
  std::vector<int64_t> draw(int64_t epoch, nlohmann::json& composition) override;
  /// The difficulty in use.
  NamedTensors state() const override { return {{"difficulty", difficulty_B_}}; }
  /// A hash of the difficulties given.
  std::string identity() const override { return identity_; }

 private:
  std::vector<int64_t> draw_ratio(int64_t epoch, nlohmann::json& composition) const;
  std::vector<int64_t> draw_momentum(int64_t epoch, nlohmann::json& composition) const;
  std::vector<double> random_difficulty(int64_t update) const;
  void set_difficulty(const std::vector<double>& values);

  SamplingOptions options_;
  int64_t max_epochs_;
  Windows windows_;
  uint64_t seed_;
  Score score_;
  std::string identity_;
  at::Tensor difficulty_B_;  ///< double, on the CPU
};

}  // namespace kdgat::train
