// A binary detector at every threshold it could have. Plain numbers; no LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kdgat::train {

/// Attacks and benign graphs at or above a score.
struct CurvePoint {
  double score = 0;
  int64_t tp = 0, fp = 0;
};

/// A point for each distinct score, downwards; the last one is everything. Flagging nothing, (0,
/// 0), is not among them. Labels 1 or 0; both spans of the same length.
std::vector<CurvePoint> curve(std::span<const float> scores, std::span<const int64_t> labels);

/// At most `most` (>= 2) points of a curve, the first and the last among them. The length of a
/// curve is the sum of its steps in recall, false-positive rate and precision; a point left out is
/// nearer than 1 / (most - 2) of the length to one that is kept.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points, std::size_t most);

}  // namespace kdgat::train
