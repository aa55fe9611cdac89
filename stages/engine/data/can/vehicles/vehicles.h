// Which logs are of one vehicle, and of which of those that are known a log is, by ids, periods and
// lengths of payloads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/data/can/windows/vehicle_profile.h"

namespace kdgat::data {

struct Vehicle {
  std::string name;  ///< of its first training log
  VehicleProfile profile;
  int64_t own = 0;  ///< windows that it was learned from after training; 0 = from training logs
  /// As StoredLog::benign_ids().
  std::vector<uint32_t> ids() const;
};

/// Share of ids in both of those in either (Jaccard); 0 of nothing. Both ascending.
double overlap(std::span<const uint32_t> a, std::span<const uint32_t> b);

/// Above which overlap two logs are of one vehicle.
inline constexpr double kSameVehicle = 0.7;

/// Whether three of four ids that both profiles have are sent as often, and with lengths that the
/// larger profile has, too. Ids of few frames say nothing.
bool are_alike(const VehicleProfile& some, const VehicleProfile& more);

/// Of each vehicle the numbers of its logs: those whose benign traffic has so many ids in common
/// and is alike.
std::vector<std::vector<std::size_t>> group_by_vehicle(std::span<const StoredLog> logs);

/// First windows of a log that say of which vehicle it is.
inline constexpr int64_t kMatchWindows = 100;

/// Finds the vehicle that a log is of by its beginning. Keeps a number for each id, no frames.
class VehicleFinder {
 public:
  /// Rows labelled as attacks say nothing, nor do diagnostics, which any tester brings.
  void add(const CanFrame& frame);
  /// The vehicle with the most ids in common (overlap() above kSameVehicle), of those that have the
  /// id of 99 of 100 frames, but for one id that is not there from the beginning on, and whose ids
  /// are_alike(); nullptr where there is none. `heard`: what these rows teach.
  const Vehicle* find(std::span<const Vehicle> vehicles, const VehicleProfile& heard) const;
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

/// That of a log by its first kMatchWindows windows, or `own` where these are fewer, ahead of its
/// first attack; nullptr where there is none.
const Vehicle* vehicle_of(const StoredLog& log, int64_t window, int64_t own,
                          std::span<const Vehicle> vehicles);

/// Puts the vehicle in the place of the one that it is, of `vehicles`, or behind the others where
/// `former` is null. Gives the name of the former, "" if there was none. Throws Error(kUsage) where
/// another has its name.
std::string put_vehicle(Vehicle vehicle, const Vehicle* former, std::vector<Vehicle>& vehicles);

}  // namespace kdgat::data
