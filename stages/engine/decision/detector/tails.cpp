#include "engine/decision/detector/tails.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kdgat/error.h"

namespace kdgat::decision {
namespace {

constexpr double kTailShare = 0.01, kLeastExcess = 1e-3;

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
    std::vector<float> kept;   // ascending, the last one is u
    std::vector<double> rare;  // -log10 P(X >= value)
    // From the median on, eight values for each halving of what is above.
    const double step = std::exp2(-1.0 / 8);
    for (double share = 0.5; share >= kTailShare && rows > 0; share *= step) {
      const float value = sorted[static_cast<std::size_t>((1 - share) * (n - 1))];
      if (!kept.empty() && value <= kept.back()) continue;
      const auto least = std::lower_bound(sorted.begin(), sorted.end(), value);
      kept.push_back(value);
      rare.push_back(-std::log10((static_cast<double>(sorted.end() - least) + 1) / (n + 1)));
    }
    double beyond = 0, count = 0;
    for (std::size_t i = rows; i > 0 && sorted[i - 1] > kept.back(); --i) {
      beyond += sorted[i - 1] - kept.back();
      ++count;
    }
    // Where nearly all values are the same, few lie above it, though most are at least as large.
    if (rows > 0) rare.back() = std::max(rare.back(), -std::log10((count + 1) / (n + 1)));
    out.add(place, kept, rare, std::max(kLeastExcess, count > 0 ? beyond / count : 0));
  }
  return out;
}

void Tails::add(std::size_t place, std::span<const float> values, std::span<const double> rare,
                double excess) {
  const auto first = static_cast<uint32_t>(values_.size());
  values_.insert(values_.end(), values.begin(), values.end());
  rare_.insert(rare_.end(), rare.begin(), rare.end());
  tails_.push_back(
      {excess, static_cast<uint32_t>(place), first, static_cast<uint32_t>(values_.size())});
}

kdgat_tails Tails::view() const {
  return {tails_.data(), values_.data(), rare_.data(),
          std::log10(std::max<double>(1, static_cast<double>(tails_.size()))),
          static_cast<uint32_t>(tails_.size())};
}

nlohmann::json Tails::json() const {
  nlohmann::json out = nlohmann::json::array();
  for (const kdgat_tail& tail : tails_) {
    nlohmann::json& one = out.emplace_back();
    one["column"] = tail.column;
    one["values"] = std::vector(values_.begin() + tail.first, values_.begin() + tail.end);
    one["rare"] = std::vector(rare_.begin() + tail.first, rare_.begin() + tail.end);
    one["excess"] = tail.excess;
  }
  return out;
}

Tails Tails::from_json(const nlohmann::json& json, std::size_t width, const std::string& file) {
  Tails out;
  for (const nlohmann::json& one : json) {
    const std::size_t place = one.at("column");
    const std::vector<float> values = one.at("values");
    const std::vector<double> rare = one.at("rare");
    const double excess = one.at("excess");
    const bool is_sound = place < width && values.size() == rare.size() &&
                          std::is_sorted(values.begin(), values.end()) &&
                          std::is_sorted(rare.begin(), rare.end()) && excess >= kLeastExcess;
    if (!is_sound) throw Error(ExitCode::kData, file + ": the tail of a column is not sound");
    out.add(place, values, rare, excess);
  }
  return out;
}

}  // namespace kdgat::decision
