#include "engine/data/can/vehicles/vehicles.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "engine/data/can/frames/protocol_ids.h"
#include "engine/data/can/vehicles/learn_profile.h"
#include "kdgat/error.h"

namespace kdgat::data {

std::vector<uint32_t> Vehicle::ids() const {
  std::vector<uint32_t> out;
  for (const IdProfile& one : profile.ids) {
    if (!is_diagnostic(one.id)) out.push_back(without_priority(one.key()));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

double overlap(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  std::vector<uint32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t either = a.size() + b.size() - both.size();
  return either == 0 ? 0 : static_cast<double>(both.size()) / static_cast<double>(either);
}

bool are_alike(const VehicleProfile& some, const VehicleProfile& more) {
  constexpr int64_t kFew = 8;  // frames
  constexpr double kNear = 1.25;
  const auto is_near = [](double a, double b) { return a < kNear * b && b < kNear * a; };
  // Of times that a logger rounds the median gap may be wrong, not the number of frames.
  const auto rate = [](const IdProfile& id, const VehicleProfile& of) {
    return of.seconds > 0 ? static_cast<double>(id.frames) / of.seconds : 0;
  };
  int64_t compared = 0, others = 0;
  for (const IdProfile& one : some.ids) {
    const IdProfile* other = more.find(one.key());
    if (other == nullptr || std::min(one.frames, other->frames) < kFew) continue;
    ++compared;
    const bool has_times = one.period > 0 && other->period > 0;
    const bool is_as_often = !has_times || is_near(one.period, other->period) ||
                             is_near(rate(one, some), rate(*other, more));
    others += is_as_often && (one.lengths & ~other->lengths).none() ? 0 : 1;
  }
  return 4 * others <= compared;
}

std::vector<std::vector<std::size_t>> group_by_vehicle(std::span<const StoredLog> logs) {
  std::vector<std::vector<std::size_t>> out;
  std::vector<std::vector<uint32_t>> ids;
  std::map<std::size_t, VehicleProfile> profiles;  // of those that were asked for
  const auto profile = [&](std::size_t i) -> const VehicleProfile& {
    const auto found = profiles.find(i);
    if (found != profiles.end()) return found->second;
    return profiles[i] = learn_profile(std::array{Piece{&logs[i], 0, logs[i].rows()}});
  };
  for (std::size_t i = 0; i < logs.size(); ++i) {
    ids.push_back(logs[i].benign_ids(logs[i].rows()));
    const auto same = std::find_if(out.begin(), out.end(), [&](const auto& group) {
      const std::size_t first = group.front();
      if (overlap(ids[first], ids[i]) <= kSameVehicle) return false;
      return are_alike(profile(i), profile(first)) || are_alike(profile(first), profile(i));
    });
    if (same == out.end()) {
      out.push_back({i});
    } else {
      same->push_back(i);
      profiles.erase(i);
    }
  }
  return out;
}

void VehicleFinder::add(const CanFrame& frame) {
  if (frame.label == 1 || is_diagnostic(frame.id)) return;
  const uint32_t id = without_priority(frame.key());
  if (frames_.size() < ProfileBuilder::kMostIds || frames_.contains(id)) {
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
                                   const VehicleProfile& heard) const {
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

const Vehicle* vehicle_of(const StoredLog& log, int64_t window, int64_t own,
                          std::span<const Vehicle> vehicles) {
  const int64_t most = std::min({kMatchWindows, own, log.first_attack() / window});
  const int64_t rows = std::min(std::max(most, kLeastOwn) * window, log.rows());
  VehicleFinder finder;
  for (int64_t row = 0; row < rows; ++row) finder.add(log.frame(row));
  return finder.find(vehicles, learn_profile(std::array{Piece{&log, 0, rows}}));
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

}  // namespace kdgat::data
