// DetectorModel: trees over relative windows, the profiles of the vehicles it was trained on, and
// its thresholds. One JSON file below 1 MB. No LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/can/relative_windows.h"
#include "data/can/vehicle_profile.h"
#include "detector/alarms.h"
#include "trees/boosted_trees.h"

namespace kdgat::detector {

struct Vehicle {
  std::string name;  ///< of its first training log
  graph::VehicleProfile profile;
  /// As Log::benign_ids().
  std::vector<uint32_t> ids() const;
};

struct DetectorModel {
  int64_t window = 100;
  Budget known;    ///< for vehicles whose profile is here
  Budget adapted;  ///< for profiles of a vehicle's own first windows
  std::vector<Vehicle> vehicles;
  trees::BoostedTrees classifier;

  /// Log-odds of an attack.
  double score(const graph::RelativeWindow& window) const { return classifier.score(window.x); }
  /// Splits and leaves.
  int64_t parameters() const;

  void write(const std::filesystem::path& file) const;
  /// Throws Error(kData) naming the file and what is wrong with it.
  static DetectorModel read(const std::filesystem::path& file);
};

inline constexpr const char* kDetectorFile = "detector.json";

}  // namespace kdgat::detector
