// The rule that a detector has to beat: a window is odd if an id is unknown, or if a frame comes
// sooner than half of its id's usual period after the one before. Two lines of a script; what it
// takes of a profile are ids and periods.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/data/can/windows/vehicle_profile.h"

namespace kdgat::compare {

class RuleWindows {
 public:
  /// `profile` must outlive this.
  RuleWindows(const data::VehicleProfile& profile, int64_t window)
      : profile_(profile), size_(window) {}

  void restart() { last_.clear(); }
  /// Whether odd() is of a new complete window.
  bool add(const data::CanFrame& frame);
  /// 1 - the smallest gap of an id in its periods; 2 where an id is unknown.
  float odd() const { return odd_; }

  static constexpr float kThreshold = 0.5F;

 private:
  const data::VehicleProfile& profile_;
  int64_t size_, count_ = 0;
  float largest_ = 0, odd_ = 0;
  std::unordered_map<uint32_t, double> last_;  // of known ids
};

/// odd() of every complete window of a log.
std::vector<float> rule_scores(const data::StoredLog& log, const data::VehicleProfile& profile,
                               int64_t window);

}  // namespace kdgat::compare
