#include "engine/train/metrics/curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kdgat::train {

std::vector<CurvePoint> curve(std::span<const float> scores, std::span<const int64_t> labels) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::vector<CurvePoint> out;
  CurvePoint at;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (labels[order[i]] == 1 ? at.tp : at.fp) += 1;
    at.score = scores[order[i]];
    if (i + 1 == order.size() || scores[order[i + 1]] != scores[order[i]]) out.push_back(at);
  }
  return out;
}

std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points, std::size_t most) {
  if (points.size() <= most) return points;
  const auto attacks = static_cast<double>(std::max<int64_t>(1, points.back().tp));
  const auto benign = static_cast<double>(std::max<int64_t>(1, points.back().fp));
  const auto precision = [](const CurvePoint& p) {
    return static_cast<double>(p.tp) / static_cast<double>(p.tp + p.fp);
  };
  std::vector<double> length{0};
  for (std::size_t i = 1; i < points.size(); ++i) {
    const CurvePoint &a = points[i - 1], &b = points[i];
    length.push_back(length.back() + static_cast<double>(b.tp - a.tp) / attacks +
                     static_cast<double>(b.fp - a.fp) / benign +
                     std::abs(precision(b) - precision(a)));
  }
  // The first point of each of most - 2 equal parts, and the last of all.
  const double part = length.back() / static_cast<double>(most - 2);
  std::vector<CurvePoint> out{points.front()};
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    if (std::floor(length[i] / part) > std::floor(length[i - 1] / part)) out.push_back(points[i]);
  }
  out.push_back(points.back());
  return out;
}

}  // namespace kdgat::train
