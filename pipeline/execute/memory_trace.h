// How much memory a process held while it ran, in a few hundred numbers however long that was.
// Owns no process and no clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace kdgat {

class MemoryTrace {
 public:
  /// One look, `seconds` after the first. The most of each interval is kept; when there are too
  /// many intervals, two become one.
  void add(double seconds, uint64_t bytes) {
    peak_ = std::max(peak_, bytes);
    if (!points_.empty() && seconds - points_.back().first < interval_) {
      points_.back().second = std::max(points_.back().second, bytes);
      return;
    }
    points_.emplace_back(seconds, bytes);
    if (points_.size() < kMost) return;
    interval_ *= 2;
    std::vector<std::pair<double, uint64_t>> all = std::exchange(points_, {});
    for (const auto& [at, most] : all) add(at, most);
  }

  uint64_t peak() const { return peak_; }

  /// {"seconds":[...],"bytes":[...]}, in order of time.
  nlohmann::json json() const {
    nlohmann::json out = {{"seconds", nlohmann::json::array()}, {"bytes", nlohmann::json::array()}};
    for (const auto& [at, bytes] : points_) {
      out["seconds"].push_back(at);
      out["bytes"].push_back(bytes);
    }
    return out;
  }

 private:
  static constexpr std::size_t kMost = 400;
  std::vector<std::pair<double, uint64_t>> points_;
  double interval_ = 0.02;
  uint64_t peak_ = 0;
};

}  // namespace kdgat
