#include "engine/decision/detector/tails.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kdgat/error.h"

namespace kdgat::decision {
namespace {

constexpr double kTailShare = 0.01, kLeastExcess = 1e-3, kMostRare = 30;

}  // namespace

Tails Tails::fit(std::span<const float> values, std::size_t width,
                 std::span<const std::size_t> columns) {
  Tails out;
  const std::size_t rows = values.size() / width;
  const auto n = static_cast<double>(rows);
  for (const std::size_t place : columns) {
    std::vector<float> sorted(rows);
    for (std::size_t i = 0; i < rows; ++i) sorted[i] = values[i * width + place];
    std::sort(sorted.begin(), sorted.end());
    Column column;
    column.place = place;
    // From the median on, eight values for each halving of what is above.
    const double step = std::exp2(-1.0 / 8);
    for (double share = 0.5; share >= kTailShare && rows > 0; share *= step) {
      const float value = sorted[static_cast<std::size_t>((1 - share) * (n - 1))];
      if (!column.values.empty() && value <= column.values.back()) continue;
      const auto least = std::lower_bound(sorted.begin(), sorted.end(), value);
      column.values.push_back(value);
      column.rare.push_back(-std::log10((static_cast<double>(sorted.end() - least) + 1) / (n + 1)));
    }
    double beyond = 0, count = 0;
    for (std::size_t i = rows; i > 0 && sorted[i - 1] > column.values.back(); --i) {
      beyond += sorted[i - 1] - column.values.back();
      ++count;
    }
    // Where nearly all values are the same, few lie above it, though most are at least as large.
    if (rows > 0)
      column.rare.back() = std::max(column.rare.back(), -std::log10((count + 1) / (n + 1)));
    column.excess = std::max(kLeastExcess, count > 0 ? beyond / count : 0);
    out.columns_.push_back(std::move(column));
  }
  return out;
}

double Tails::rarity(const Column& column, float value) {
  if (column.values.empty() || value <= column.values.front()) return 0;
  if (value >= column.values.back()) {
    const double beyond = (value - column.values.back()) / column.excess / std::log(10.0);
    return std::min(kMostRare, column.rare.back() + beyond);
  }
  const auto above = std::upper_bound(column.values.begin(), column.values.end(), value);
  return column.rare[static_cast<std::size_t>(above - column.values.begin()) - 1];
}

double Tails::score(std::span<const float> row) const {
  double most = 0;
  for (const Column& column : columns_) most = std::max(most, rarity(column, row[column.place]));
  return std::max(0.0,
                  most - std::log10(std::max<double>(1, static_cast<double>(columns_.size()))));
}

nlohmann::json Tails::json() const {
  nlohmann::json out = nlohmann::json::array();
  for (const Column& column : columns_) {
    nlohmann::json& one = out.emplace_back();
    one["column"] = column.place;
    one["values"] = column.values;
    one["rare"] = column.rare;
    one["excess"] = column.excess;
  }
  return out;
}

Tails Tails::from_json(const nlohmann::json& json, std::size_t width, const std::string& file) {
  Tails out;
  for (const nlohmann::json& one : json) {
    Column column{one.at("column"), one.at("values"), one.at("rare"), one.at("excess")};
    const bool is_sound = column.place < width && column.values.size() == column.rare.size() &&
                          std::is_sorted(column.values.begin(), column.values.end()) &&
                          std::is_sorted(column.rare.begin(), column.rare.end()) &&
                          column.excess >= kLeastExcess;
    if (!is_sound) throw Error(ExitCode::kData, file + ": the tail of a column is not sound");
    out.columns_.push_back(std::move(column));
  }
  return out;
}

}  // namespace kdgat::decision
