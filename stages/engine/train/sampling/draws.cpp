#include "engine/train/sampling/draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace kdgat::train {
namespace {

// Streams of random numbers beside that of the order of an epoch (graph::make_pack_plan).
constexpr uint64_t kDraws = 0x6472617773ULL, kControl = 0x636F6E74726F6CULL;

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

double natural_share(const SamplingOptions& options, int64_t max_epochs, int64_t epoch) {
  const double tau =
      options.momentum_tau > 0 ? options.momentum_tau : static_cast<double>(max_epochs) / 3;
  return 1 - std::exp(-static_cast<double>(epoch) / tau);
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

std::vector<double> half_ranks(const std::vector<double>& scores,
                               const std::vector<double>& given) {
  std::vector<double> out = unit_ranks(scores);
  const std::vector<double> others = unit_ranks(given);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (out[i] + others[i]) / 2;
  return out;
}

arrays::Random draws(uint64_t seed, int64_t epoch) {
  return {seed ^ kDraws, static_cast<uint64_t>(epoch)};
}

std::vector<double> random_difficulty(uint64_t seed, int64_t update, std::size_t size) {
  arrays::Random random(seed ^ kControl, static_cast<uint64_t>(update));
  std::vector<double> out(size);
  for (double& value : out) value = random.uniform();
  return out;
}

std::vector<int64_t> choose(std::vector<int64_t> items, int64_t count, arrays::Random& random) {
  const auto wanted = std::min(static_cast<std::size_t>(count), items.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    std::swap(items[i], items[i + random.below(items.size() - i)]);
  }
  items.resize(wanted);
  return items;
}

void hardest_first(std::vector<int64_t>& positions, const double* difficulty) {
  std::stable_sort(positions.begin(), positions.end(),
                   [&](int64_t a, int64_t b) { return difficulty[a] > difficulty[b]; });
}

std::vector<int64_t> hardest_and_others(std::vector<int64_t> order, int64_t hard, int64_t count,
                                        arrays::Random& random) {
  std::vector<int64_t> out(order.begin(), order.begin() + hard);
  order.erase(order.begin(), order.begin() + hard);
  const std::vector<int64_t> others = choose(std::move(order), count - hard, random);
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

}  // namespace kdgat::train
