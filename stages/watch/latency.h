// Latency: how long something takes, again and again, in bounded memory. Quantiles are exact to an
// eighth of themselves.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace kdgat::watch {

class Latency {
 public:
  void add(int64_t nanoseconds) {
    const double ns = static_cast<double>(std::max<int64_t>(nanoseconds, 1));
    const auto place = static_cast<std::size_t>(std::max(0.0, std::log2(ns / kLeast)) * kSteps);
    ++counts_[std::min(place, counts_.size() - 1)];
    ++total_;
    sum_ += ns;
    most_ = std::max(most_, ns);
  }
  int64_t total() const { return total_; }
  /// Seconds; an upper bound. 0 where nothing was added.
  double quantile(double share) const {
    auto left = static_cast<int64_t>(std::ceil(share * static_cast<double>(total_)));
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      left -= counts_[i];
      if (left <= 0 && total_ > 0) {
        const double bound = kLeast * std::exp2(static_cast<double>(i + 1) / kSteps);
        return std::min(bound, most_) * 1e-9;
      }
    }
    return 0;
  }
  /// {"count","sum","p50","p99","max"}, seconds.
  nlohmann::json json() const {
    return {{"count", total_},
            {"sum", sum_ * 1e-9},
            {"p50", quantile(0.5)},
            {"p99", quantile(0.99)},
            {"max", most_ * 1e-9}};
  }

 private:
  static constexpr double kLeast = 100;  // nanoseconds
  static constexpr double kSteps = 8;    // of each doubling

  std::array<int64_t, 300> counts_{};
  int64_t total_ = 0;
  double sum_ = 0, most_ = 0;
};

}  // namespace kdgat::watch
