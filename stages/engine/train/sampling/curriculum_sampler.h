// Samplers of benign and attack windows: balanced, and two curricula by difficulty. Pure: no files,
// no model; scores come from a closure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/train/sampler.h"
#include "engine/train/sampling/difficulty_sampler.h"

namespace kdgat::train {

/// Windows to choose among, each once.
struct Windows {
  std::vector<int64_t> attacks;    ///< [A] graph ids
  std::vector<int64_t> benign;     ///< [B] graph ids
  std::vector<double> difficulty;  ///< [B] more is harder; empty where it is not used
};

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
class CurriculumSampler : public DifficultySampler {
 public:
  using Score = DifficultyScore;

  /// Throws as DifficultySampler, and Error(kData) if a class is empty.
  CurriculumSampler(const SamplingOptions& options, int64_t max_epochs, Windows windows,
                    uint64_t seed, Score score);

  std::vector<int64_t> draw(int64_t epoch, nlohmann::json& composition) override;

 private:
  std::vector<int64_t> draw_ratio(int64_t epoch, nlohmann::json& composition) const;
  std::vector<int64_t> draw_momentum(int64_t epoch, nlohmann::json& composition) const;
  std::vector<double> mixed(const std::vector<double>& scores) const override;

  Windows windows_;  ///< but for their difficulty
};

}  // namespace kdgat::train
