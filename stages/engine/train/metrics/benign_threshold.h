// A threshold from benign scores alone, for traffic that a model was not trained on. Plain numbers;
// no LibTorch.
#pragma once

#include <span>

namespace kdgat::train {

/// The score that benign windows like these exceed with probability `false_alarms`. The tail above
/// the 90 % quantile u is taken as exponential, with b the mean excess over u:
///   threshold = u + b ln(k / (n false_alarms)), k of n scores above u
/// (peaks over threshold with shape 0; Siffer et al., KDD 2017, eq. 1). A margin in units of the
/// scores' own spread: any increasing affine map of the scores gives the same decisions. Wants
/// scores that do not saturate (Scorer::raw_score). `benign` holds at least one.
double calibrate(std::span<const float> benign, double false_alarms);

}  // namespace kdgat::train
