#include "detector/find_vehicle.h"

#include <algorithm>

#include "data/can/protocol_ids.h"
#include "detector/traffic.h"

namespace kdgat::detector {

void VehicleFinder::add(const graph::CanFrame& frame) {
  if (frame.label == 1 || graph::is_diagnostic(frame.id)) return;
  ++rows_;
  const uint32_t id = graph::without_priority(frame.key());
  if (frames_.size() < graph::ProfileBuilder::kMostIds || frames_.contains(id)) {
    ++frames_[id];
  } else {
    ++others_;
  }
}

std::vector<uint32_t> VehicleFinder::ids() const {
  std::vector<uint32_t> out;
  out.reserve(frames_.size());
  for (const auto& [id, frames] : frames_) out.push_back(id);
  std::sort(out.begin(), out.end());
  return out;
}

const Vehicle* VehicleFinder::find(std::span<const Vehicle> vehicles) const {
  constexpr double kMostUnknown = 0.01;
  const std::vector<uint32_t> ids = this->ids();
  const Vehicle* out = nullptr;
  double best = kSameVehicle;
  for (const Vehicle& one : vehicles) {
    const std::vector<uint32_t> its = one.ids();
    const double share = overlap(ids, its);
    if (share <= best) continue;
    int64_t unknown = others_;
    for (const auto& [id, frames] : frames_) {
      unknown += std::binary_search(its.begin(), its.end(), id) ? 0 : frames;
    }
    // Cars of one maker share most ids, but each sends some all the time that others do not have.
    if (static_cast<double>(unknown) >= kMostUnknown * static_cast<double>(rows_)) continue;
    out = &one;
    best = share;
  }
  return out;
}

}  // namespace kdgat::detector
