// What a profile says is usual, as the tables that engine/portable/windows.h reads: in the program,
// and printed into an exported detector.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/windows/vehicle_profile.h"
#include "engine/portable/vehicle.h"

namespace kdgat::data {

/// Frames of testers and of claimed addresses are compared with nothing, as long as they are no
/// more than this share of a window; beyond it all of them are unknown. A tester waits for one
/// answer before it asks again: some 100 times a second at most, 200 frames of the 400 and more
/// that a bus carries.
inline constexpr float kMostExcused = 0.5F;

/// For windows of at most this many frames: rows have numbers of 16 bits.
inline constexpr int64_t kMostWindow = 10'000;

class VehicleTables {
 public:
  /// `window`: frames, from 1 to kMostWindow. The ids of the profile ascend.
  VehicleTables(const VehicleProfile& profile, int64_t window);
  VehicleTables(const VehicleTables&) = delete;  // the view points at its tables
  VehicleTables& operator=(const VehicleTables&) = delete;

  const kdgat_vehicle& view() const { return view_; }

  // Each as in kdgat_vehicle.
  std::vector<uint32_t> keys, moves;
  std::vector<kdgat_usual> usuals;
  std::vector<kdgat_length_set> lengths;
  std::vector<float> bits, rare;
  std::vector<kdgat_usual_bus> buses;
  std::array<int16_t, kMostChannels> bus_of{};
  std::vector<kdgat_message> messages;
  std::vector<kdgat_home> homes;
  std::vector<kdgat_lawful> lawful;
  std::vector<uint64_t> sums;

 private:
  void add_buses(const VehicleProfile& profile);
  void add_network(const VehicleProfile& profile, uint8_t channel, kdgat_usual_bus& bus);
  void add_ids(const VehicleProfile& profile);
  uint32_t moves_of(const ByteMoves& byte);

  kdgat_vehicle view_{};
  std::map<std::vector<float>, std::size_t> places_;  // of lists of values in `bits`
};

}  // namespace kdgat::data
