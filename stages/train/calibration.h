// Calibration: a threshold from benign scores alone, for traffic a model was not trained on. Plain
// numbers; no LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "train/data_set.h"

namespace kdgat::train {

/// Fewer benign windows than this say nothing of the tail of their scores.
inline constexpr int64_t kLeastCalibration = 20;

/// The score that benign windows like these exceed with probability `false_alarms`. The tail above
/// the 90 % quantile u is taken as exponential, with b the mean excess over u:
///   threshold = u + b ln(k / (n false_alarms)), k of n scores above u
/// (peaks over threshold with shape 0; Siffer et al., KDD 2017, eq. 1). A margin in units of the
/// scores' own spread: any increasing affine map of the scores gives the same decisions. Wants
/// scores that do not saturate (Scorer::raw_score). `benign` holds at least one.
double calibrate(std::span<const float> benign, double false_alarms);

/// The windows of one source file within a part, in the file's order. Positions in the part.
struct FileWindows {
  int32_t source = 0;               ///< index into the store's sources
  std::vector<std::size_t> prefix;  ///< known to be benign: for calibration, and nothing else
  std::vector<std::size_t> rest;
};

/// `ids` by source file. The prefix is what an operator knows to be clean: the windows before the
/// first that holds an attack or has no label, the first half of a file that holds neither; at most
/// `limit` of them (0 = all). Prefixes shorter than kLeastCalibration are left empty.
std::vector<FileWindows> by_file(const Data& data, const std::vector<int64_t>& ids, int64_t limit);

}  // namespace kdgat::train
