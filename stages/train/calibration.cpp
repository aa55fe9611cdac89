#include "train/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>

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

std::vector<FileWindows> by_file(const Data& data, const std::vector<int64_t>& ids, int64_t limit) {
  std::map<int32_t, std::vector<std::size_t>> files;
  const auto graph = [&ids](std::size_t position) {
    return static_cast<std::size_t>(ids[position]);
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    files[data.store.source_of()[graph(i)]].push_back(i);
  }
  std::vector<FileWindows> out;
  for (auto& [source, windows] : files) {
    std::sort(windows.begin(), windows.end(), [&](std::size_t a, std::size_t b) {
      return data.store.row_begin()[graph(a)] < data.store.row_begin()[graph(b)];
    });
    const auto end = std::find_if(windows.begin(), windows.end(),
                                  [&](std::size_t i) { return data.store.y()[graph(i)] != 0; });
    auto known =
        end == windows.end() ? static_cast<int64_t>(windows.size()) / 2 : end - windows.begin();
    if (limit > 0) known = std::min(known, limit);
    if (known < kLeastCalibration) known = 0;
    out.push_back({source,
                   {windows.begin(), windows.begin() + known},
                   {windows.begin() + known, windows.end()}});
  }
  return out;
}

}  // namespace kdgat::train
