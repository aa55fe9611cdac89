#include "fields/molecules/data/neighbours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace kdgat::molecules {
namespace {

using Cell = std::array<int64_t, 3>;

Cell cell_of(const Point& point, double size) {
  // Beyond this a cell's number is no exact double; such points are far from all others anyway.
  constexpr double kFar = 1e15;
  Cell out{};
  for (std::size_t d = 0; d < 3; ++d) {
    out[d] = static_cast<int64_t>(std::clamp(std::floor(point[d] / size), -kFar, kFar));
  }
  return out;
}

}  // namespace

std::vector<std::pair<int32_t, int32_t>> pairs_within(std::span<const Point> points,
                                                      double cutoff) {
  // The points by cell: those of one cell stand together, and a cell is found by bisection.
  std::vector<std::pair<Cell, int32_t>> placed;
  placed.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    placed.emplace_back(cell_of(points[i], cutoff), static_cast<int32_t>(i));
  }
  std::sort(placed.begin(), placed.end());
  std::vector<std::pair<int32_t, int32_t>> out;
  const auto at = [&points](int32_t i) -> const Point& {
    return points[static_cast<std::size_t>(i)];
  };
  for (auto begin = placed.begin(); begin != placed.end();) {
    const Cell cell = begin->first;
    const auto end =
        std::find_if(begin, placed.end(), [&](const auto& p) { return p.first != cell; });
    // A column of three cells along the last axis stands together, too.
    for (int64_t x = -1; x <= 1; ++x) {
      for (int64_t y = -1; y <= 1; ++y) {
        const Cell low = {cell[0] + x, cell[1] + y, cell[2] - 1};
        const Cell high = {cell[0] + x, cell[1] + y, cell[2] + 1};
        const auto from =
            std::lower_bound(placed.begin(), placed.end(), low,
                             [](const auto& p, const Cell& c) { return p.first < c; });
        for (auto other = from; other != placed.end() && other->first <= high; ++other) {
          for (auto one = begin; one != end; ++one) {
            if (one->second >= other->second) continue;
            const double square = squared_distance(at(one->second), at(other->second));
            if (square <= cutoff * cutoff) out.emplace_back(one->second, other->second);
          }
        }
      }
    }
    begin = end;
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace kdgat::molecules
