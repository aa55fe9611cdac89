#include "engine/train/calibration.h"

#include <algorithm>
#include <map>

namespace kdgat::train {

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
