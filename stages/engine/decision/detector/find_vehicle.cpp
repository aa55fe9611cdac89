#include "engine/decision/detector/find_vehicle.h"

#include <algorithm>
#include <utility>

#include "engine/data/can/frames/protocol_ids.h"
#include "engine/decision/detector/traffic.h"
#include "kdgat/error.h"

namespace kdgat::decision {

void VehicleFinder::add(const data::CanFrame& frame) {
  if (frame.label == 1 || data::is_diagnostic(frame.id)) return;
  const uint32_t id = data::without_priority(frame.key());
  if (frames_.size() < data::ProfileBuilder::kMostIds || frames_.contains(id)) {
    Seen& seen = frames_.try_emplace(id, Seen{0, rows_}).first->second;
    ++seen.frames;
  } else {
    ++others_;
  }
  ++rows_;
}

std::vector<uint32_t> VehicleFinder::ids() const {
  std::vector<uint32_t> out;
  out.reserve(frames_.size());
  for (const auto& [id, seen] : frames_) out.push_back(id);
  std::sort(out.begin(), out.end());
  return out;
}

const Vehicle* VehicleFinder::find(std::span<const Vehicle> vehicles,
                                   const data::VehicleProfile& heard) const {
  constexpr double kMostUnknown = 0.01;
  constexpr int64_t kLater = 20;  // this share of the rows behind the first
  const std::vector<uint32_t> ids = this->ids();
  const Vehicle* out = nullptr;
  double best = kSameVehicle;
  for (const Vehicle& one : vehicles) {
    const std::vector<uint32_t> its = one.ids();
    const double share = overlap(ids, its);
    if (share <= best) continue;
    int64_t unknown = others_, flood = 0;
    for (const auto& [id, seen] : frames_) {
      if (std::binary_search(its.begin(), its.end(), id)) continue;
      unknown += seen.frames;
      if (seen.first > rows_ / kLater) flood = std::max(flood, seen.frames);
    }
    // Cars of one maker share most ids, but each sends some all the time that others do not have.
    // One that begins later may be an attacker's, who must not pass for another car by it.
    unknown -= flood;
    if (static_cast<double>(unknown) >= kMostUnknown * static_cast<double>(rows_)) continue;
    if (!are_alike(heard, one.profile)) continue;
    out = &one;
    best = share;
  }
  return out;
}

std::string put_vehicle(Vehicle vehicle, const Vehicle* former, std::vector<Vehicle>& vehicles) {
  for (const Vehicle& other : vehicles) {
    if (&other == former || other.name != vehicle.name) continue;
    throw Error(ExitCode::kUsage,
                "the detector has a vehicle " + vehicle.name + " already, with other ids",
                "--name NAME calls this one otherwise");
  }
  if (former == nullptr) {
    vehicles.push_back(std::move(vehicle));
    return "";
  }
  std::string name = former->name;
  vehicles[static_cast<std::size_t>(former - vehicles.data())] = std::move(vehicle);
  return name;
}

}  // namespace kdgat::decision
