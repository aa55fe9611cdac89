// What a detector learns from: windows of training logs relative to profiles, those of other drives
// of the vehicle and those of a log's own beginning, with the attacks that the logs have and with
// injected ones. No LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "detector/alarms.h"
#include "detector/detector_options.h"
#include "detector/traffic.h"
#include "trees/table.h"

namespace kdgat::detector {

struct LearningSet {
  std::vector<float> values;  ///< [rows, kRelativeColumns]
  std::vector<int64_t> labels;
  std::vector<float> weights;
  int64_t injected = 0;  ///< rows of logs with injected attacks

  trees::Table table() const;
};

/// Benign windows of the ends of training logs, which nothing is learned from. Their columns.
struct Held {
  std::vector<float> values;
  double seconds = 0;
  /// Windows of the log's own beginning that the profile was learned from; 0: of other drives.
  int64_t own = 0;
};

struct Learning {
  LearningSet rows;
  std::vector<Held> held;
};

/// `logs`: of training, in groups by vehicle. `told` is called now and then with a share of the work
/// done; it may throw. The same for the same seed. Throws Error(kData) where no log has two ids.
Learning learn(std::span<const Log> logs, const std::vector<std::vector<std::size_t>>& vehicles,
               const DetectorOptions& options, int64_t seed,
               const std::function<void(double share)>& told);

}  // namespace kdgat::detector
