#include "engine/trees/bins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/arrays/threads.h"

namespace kdgat::trees {

namespace {

/// Half-way between a < b as a float, but below b: next to each other there may be nothing between.
float cut_between(float a, float b) {
  const auto middle = static_cast<float>(static_cast<double>(a) / 2 + static_cast<double>(b) / 2);
  return middle < b ? middle : a;
}

/// So that cuts are finite; of a bin it changes nothing but that the largest float and infinity
/// share one.
float clamped(float v) {
  constexpr float kMost = std::numeric_limits<float>::max();
  return std::clamp(v, -kMost, kMost);
}

}  // namespace

std::vector<float> quantile_cuts(std::span<const float> values, std::span<const float> weights,
                                 int64_t most) {
  std::vector<std::pair<float, double>> distinct;  // with the weight of each
  distinct.reserve(values.size());
  for (std::size_t r = 0; r < values.size(); ++r) {
    const double weight = weights.empty() ? 1 : weights[r];
    if (!std::isnan(values[r]) && weight != 0) distinct.emplace_back(clamped(values[r]), weight);
  }
  std::sort(distinct.begin(), distinct.end());
  // In place: of all columns at once two such lists would be half of what training holds.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    if (kept > 0 && distinct[i].first == distinct[kept - 1].first) {
      distinct[kept - 1].second += distinct[i].second;
    } else {
      distinct[kept++] = distinct[i];
    }
  }
  distinct.resize(kept);
  const bool each_its_own = static_cast<int64_t>(distinct.size()) <= most;
  double left = 0;
  for (const auto& [v, weight] : distinct) left += weight;
  // A heavy value fills a bin alone, and the rest is shared among the bins that are left.
  std::vector<float> cuts;
  double inside = 0, wanted = left / static_cast<double>(most);
  for (std::size_t i = 0; i + 1 < distinct.size(); ++i) {
    inside += distinct[i].second;
    const int64_t bins_left = most - static_cast<int64_t>(cuts.size()) - 1;
    if (!each_its_own && (inside < wanted || bins_left == 0)) continue;
    cuts.push_back(cut_between(distinct[i].first, distinct[i + 1].first));
    left -= inside;
    inside = 0;
    wanted = left / static_cast<double>(std::max<int64_t>(1, bins_left));
  }
  return cuts;
}

BinnedTable::BinnedTable(const Table& table, int64_t most_bins, int threads)
    : rows_(table.rows()),
      cuts_(static_cast<std::size_t>(table.columns)),
      codes_(static_cast<std::size_t>(table.columns * table.rows())) {
  const auto width = static_cast<std::size_t>(table.columns);
  arrays::for_chunks(0, table.columns, 1, threads, [&](int, int64_t begin, int64_t) {
    const auto column = static_cast<std::size_t>(begin);
    std::vector<float> values(static_cast<std::size_t>(rows_));
    for (std::size_t r = 0; r < values.size(); ++r) values[r] = table.values[r * width + column];
    const std::vector<float>& cuts = cuts_[column] =
        quantile_cuts(values, table.weights, most_bins);
    uint8_t* codes = codes_.data() + column * values.size();
    for (std::size_t r = 0; r < values.size(); ++r) {
      const auto bin = std::isnan(values[r])
                           ? static_cast<std::ptrdiff_t>(cuts.size() + 1)
                           : std::lower_bound(cuts.begin(), cuts.end(), values[r]) - cuts.begin();
      codes[r] = static_cast<uint8_t>(bin);
    }
  });
}

}  // namespace kdgat::trees
