// Finds the vehicle of a model that a log is of, by ids, periods and lengths of the log's
// beginning. Keeps a number for each id, no frames.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/windows/vehicle_profile.h"
#include "engine/decision/detector/detector_model.h"

namespace kdgat::decision {

class VehicleFinder {
 public:
  /// Rows labelled as attacks say nothing, nor do diagnostics, which any tester brings.
  void add(const data::CanFrame& frame);
  /// The vehicle with the most ids in common (overlap() above kSameVehicle), of those that have the
  /// id of 99 of 100 frames, but for one id that is not there from the beginning on, and whose ids
  /// are_alike(); nullptr where there is none. `heard`: what these rows teach.
  const Vehicle* find(std::span<const Vehicle> vehicles, const data::VehicleProfile& heard) const;
  /// Ascending, without_priority(); no more than a profile holds.
  std::vector<uint32_t> ids() const;

 private:
  int64_t rows_ = 0;
  int64_t others_ = 0;  // rows of ids beyond those
  struct Seen {
    int64_t frames, first;  // row
  };
  std::unordered_map<uint32_t, Seen> frames_;  // of each id, without_priority()
};

/// Puts the vehicle in the place of the one that it is, of `vehicles`, or behind the others where
/// `former` is null. Gives the name of the former, "" if there was none. Throws Error(kUsage) where
/// another has its name.
std::string put_vehicle(Vehicle vehicle, const Vehicle* former, std::vector<Vehicle>& vehicles);

}  // namespace kdgat::decision
