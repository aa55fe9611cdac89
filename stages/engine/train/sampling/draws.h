// What the curricula have in common: how many graphs an epoch asks for, which of them are drawn,
// and ranks of difficulties. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/train/sampling/sampling_options.h"

namespace kdgat::train {

/// Scores of graphs by the model in training, more is harder, calling `check` now and then.
using DifficultyScore = std::function<std::vector<float>(const std::vector<int64_t>& ids,
                                                         const std::function<void()>& check)>;

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

/// How far a momentum schedule is from balanced (0) to natural (1): 1 - exp(-epoch / tau).
double natural_share(const SamplingOptions& options, int64_t max_epochs, int64_t epoch);

/// Ranks of `values` over [0, 1], equal values at the mean of theirs; a single value is at 0.
std::vector<double> unit_ranks(const std::vector<double>& values);

/// Means of the ranks of both, which are of the same graphs.
std::vector<double> half_ranks(const std::vector<double>& scores, const std::vector<double>& given);

/// The random numbers by which an epoch is drawn.
arrays::Random draws(uint64_t seed, int64_t epoch);

/// Difficulties of the control: random, and random again with each `update`.
std::vector<double> random_difficulty(uint64_t seed, int64_t update, std::size_t size);

/// `count` of `items`, each as likely; all of them if there are no more.
std::vector<int64_t> choose(std::vector<int64_t> items, int64_t count, arrays::Random& random);

/// Orders positions in `difficulty` by it, equal ones as they stand.
void hardest_first(std::vector<int64_t>& positions, const double* difficulty);

/// The first `hard` of `order`, and so many of the others that there are `count`.
std::vector<int64_t> hardest_and_others(std::vector<int64_t> order, int64_t hard, int64_t count,
                                        arrays::Random& random);

}  // namespace kdgat::train
