// Pairs of points near one another, by a grid of cells.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fields/molecules/data/molecule.h"

namespace kdgat::molecules {

/// All pairs i < j with a distance of at most `cutoff` A, > 0, in ascending order. Positions are
/// finite; work and memory grow with points and pairs, however far the points lie apart.
std::vector<std::pair<int32_t, int32_t>> pairs_within(std::span<const Point> points, double cutoff);

}  // namespace kdgat::molecules
