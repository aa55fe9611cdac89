#include "engine/train/metrics/retrieval.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kdgat::train {
namespace {

constexpr int kPercents[] = {5, 10, 20};
constexpr int64_t kRecalls[] = {1, 5, 10, 20, 50};

double median(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const auto upper = static_cast<double>(values[half]);
  return values.size() % 2 == 1 ? upper : (upper + static_cast<double>(values[half - 1])) / 2;
}

}  // namespace

std::vector<double> distances(std::span<const float> vector, const Catalogue& catalogue) {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(catalogue.ligands()));
  const auto width = static_cast<std::size_t>(catalogue.width);
  for (std::size_t first = 0; first < catalogue.vectors.size(); first += width) {
    double product = 0, own = 0, other = 0, square = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const double a = vector[i], b = catalogue.vectors[first + i];
      product += a * b;
      own += a * a;
      other += b * b;
      square += (a - b) * (a - b);
    }
    constexpr double kLeast = 1e-16;
    out.push_back(catalogue.is_angular
                      ? 1 - product / std::sqrt(std::max(own, kLeast) * std::max(other, kLeast))
                      : std::sqrt(square));
  }
  return out;
}

std::vector<int32_t> nearest(const std::vector<double>& distances, int64_t count) {
  std::vector<int32_t> out(distances.size());
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(), [&](int32_t a, int32_t b) {
    return distances[static_cast<std::size_t>(a)] < distances[static_cast<std::size_t>(b)];
  });
  out.resize(std::min(out.size(), static_cast<std::size_t>(count)));
  return out;
}

std::vector<int64_t> ranks_of(std::span<const float> predicted, std::span<const int32_t> ligand,
                              const Catalogue& catalogue) {
  std::vector<int64_t> out;
  out.reserve(ligand.size());
  const auto width = static_cast<std::size_t>(catalogue.width);
  for (std::size_t g = 0; g < ligand.size(); ++g) {
    const std::vector<double> d = distances(predicted.subspan(g * width, width), catalogue);
    const double right = d[static_cast<std::size_t>(ligand[g])];
    out.push_back(1 + std::count_if(d.begin(), d.end(), [&](double x) { return x < right; }));
  }
  return out;
}

nlohmann::json retrieval_metrics(std::span<const int64_t> ranks, int64_t ligands) {
  nlohmann::json out = nlohmann::json::object();
  if (ranks.empty()) return out;
  const auto count = static_cast<double>(ranks.size());
  const auto within = [&](int64_t k) {
    return static_cast<double>(
               std::count_if(ranks.begin(), ranks.end(), [&](int64_t r) { return r <= k; })) /
           count;
  };
  for (const int percent : kPercents) {
    out["hit_" + std::to_string(percent)] = within(percent * ligands / 100);
  }
  for (const int64_t k : kRecalls) out["recall_" + std::to_string(k)] = within(k);
  double inverse = 0, sum = 0;
  for (const int64_t rank : ranks) {
    inverse += 1 / static_cast<double>(rank);
    sum += static_cast<double>(rank);
  }
  out["top_1"] = within(1);
  out["mrr"] = inverse / count;
  out["mean_rank"] = sum / count;
  out["median_rank"] = median({ranks.begin(), ranks.end()});
  out["normalised_rank"] = ligands > 1 ? (sum / count - 1) / static_cast<double>(ligands - 1) : 0.0;
  return out;
}

nlohmann::json chance_metrics(int64_t ligands) {
  std::vector<int64_t> every(static_cast<std::size_t>(ligands));
  std::iota(every.begin(), every.end(), int64_t{1});
  return retrieval_metrics(every, ligands);
}

}  // namespace kdgat::train
