#include "fields/molecules/equivariant/baselines.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fields/molecules/model/plain_numbers.h"

namespace kdgat::equivariant {
namespace {

/// Columns to mean 0 and deviation 1 of the first `trained` rows; those that never vary there to 0.
void scale(molecules::PlainNumbers& numbers, std::size_t trained) {
  const auto width = static_cast<std::size_t>(numbers.width);
  const std::size_t rows = width == 0 ? 0 : numbers.rows.size() / width;
  for (std::size_t c = 0; c < width; ++c) {
    double sum = 0, square = 0;
    for (std::size_t r = 0; r < trained; ++r) {
      const double value = numbers.rows[r * width + c];
      sum += value;
      square += value * value;
    }
    const double mean = sum / static_cast<double>(trained);
    const double deviation =
        std::sqrt(std::max(0.0, square / static_cast<double>(trained) - mean * mean));
    constexpr double kLeast = 1e-8;
    for (std::size_t r = 0; r < rows; ++r) {
      float& value = numbers.rows[r * width + c];
      value = deviation < kLeast ? 0.0F : static_cast<float>((value - mean) / deviation);
    }
  }
}

int64_t rank_in(const std::vector<double>& distance, int32_t right) {
  const double own = distance[static_cast<std::size_t>(right)];
  return 1 + std::count_if(distance.begin(), distance.end(), [&](double d) { return d < own; });
}

}  // namespace

std::vector<int64_t> ranks_by_mean(const PocketData& data, const std::vector<int64_t>& ids,
                                   const train::Catalogue& catalogue) {
  const auto width = static_cast<std::size_t>(catalogue.width);
  std::vector<float> mean(width, 0.0F);
  for (const int32_t ligand : data.ligands(data.train)) {
    for (std::size_t i = 0; i < width; ++i) {
      mean[i] += catalogue.vectors[static_cast<std::size_t>(ligand) * width + i] /
                 static_cast<float>(data.train.size());
    }
  }
  const std::vector<double> d = train::distances(mean, catalogue);
  std::vector<int64_t> out;
  out.reserve(ids.size());
  for (const int32_t ligand : data.ligands(ids)) out.push_back(rank_in(d, ligand));
  return out;
}

std::vector<int64_t> ranks_by_nearest(const PocketData& data, const std::vector<int64_t>& ids,
                                      const train::Catalogue& catalogue) {
  std::vector<int64_t> all = data.train;
  all.insert(all.end(), ids.begin(), ids.end());
  molecules::PlainNumbers numbers = molecules::plain_numbers(data.store, all, data.train);
  scale(numbers, data.train.size());
  const std::vector<int32_t> of_train = data.ligands(data.train), of_ids = data.ligands(ids);
  const auto width = static_cast<std::size_t>(catalogue.width);
  std::vector<int64_t> out;
  out.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::span<const float> row = numbers.row(data.train.size() + i);
    double least = std::numeric_limits<double>::infinity();
    std::size_t nearest = 0;
    for (std::size_t t = 0; t < data.train.size(); ++t) {
      const std::span<const float> other = numbers.row(t);
      double square = 0;
      for (std::size_t c = 0; c < row.size(); ++c) {
        square += std::pow(double{row[c]} - other[c], 2);
      }
      if (square < least) {
        least = square;
        nearest = t;
      }
    }
    const auto ligand = static_cast<std::size_t>(of_train[nearest]);
    out.push_back(rank_in(
        train::distances(catalogue.vectors.subspan(ligand * width, width), catalogue), of_ids[i]));
  }
  return out;
}

}  // namespace kdgat::equivariant
