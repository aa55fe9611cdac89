// Calibration of a data set's models on the benign beginning of its files; the threshold itself is
// that of metrics/benign_threshold.h. Plain numbers; no LibTorch.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/train/data_set.h"
#include "engine/train/metrics/benign_threshold.h"

namespace kdgat::train {

/// Fewer benign windows than this say nothing of the tail of their scores.
inline constexpr int64_t kLeastCalibration = 20;

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
