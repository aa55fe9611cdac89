#include "engine/train/metrics/benign_threshold.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kdgat::train {

double calibrate(std::span<const float> benign, double false_alarms) {
  std::vector<double> sorted(benign.begin(), benign.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size(), tail = std::min(n - 1, std::max<std::size_t>(1, n / 10));
  const double u = sorted[n - 1 - tail];
  if (tail == 0) return u;
  double excess = 0;
  for (std::size_t i = n - tail; i < n; ++i) excess += sorted[i] - u;
  const auto k = static_cast<double>(tail);
  return u + excess / k * std::max(0.0, std::log(k / (static_cast<double>(n) * false_alarms)));
}

}  // namespace kdgat::train
