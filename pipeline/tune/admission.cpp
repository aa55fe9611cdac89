#include "pipeline/tune/admission.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace kdgat {

Admission::Admission(std::vector<DeviceRoom> devices, std::size_t at_once)
    : devices_(std::move(devices)),
      reserved_(devices_.size(), 0),
      at_once_(at_once == 0 ? std::numeric_limits<std::size_t>::max() : at_once) {}

int64_t Admission::largest_room() const {
  int64_t out = 0;
  for (const DeviceRoom& device : devices_) out = std::max(out, device.bytes);
  return out;
}

void Admission::add(std::size_t trial, int64_t bytes) {
  const Waiting one{trial, std::clamp<int64_t>(bytes, 0, largest_room())};
  const auto place = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& other) { return other.bytes < one.bytes; });
  waiting_.insert(place, one);
}

std::optional<Admission::Start> Admission::next() {
  if (running_.size() >= at_once_) return std::nullopt;
  const auto free_on = [&](std::size_t i) { return devices_[i].bytes - reserved_[i]; };
  std::size_t roomiest = 0;
  for (std::size_t i = 1; i < devices_.size(); ++i) {
    if (free_on(i) > free_on(roomiest)) roomiest = i;
  }
  const auto fits = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
    return one.bytes <= free_on(roomiest);
  });
  if (fits == waiting_.end()) return std::nullopt;
  const Start start{fits->trial, roomiest, fits->bytes};
  waiting_.erase(fits);
  running_.push_back(start);
  reserved_[roomiest] += start.bytes;
  return start;
}

void Admission::finish(std::size_t trial) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const Start& one) { return one.trial == trial; });
  if (found == running_.end()) return;
  reserved_[found->device] -= found->bytes;
  running_.erase(found);
}

bool Admission::requeue_larger(std::size_t trial) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const Start& one) { return one.trial == trial; });
  if (found == running_.end()) return false;
  const int64_t had = found->bytes, room = largest_room();
  finish(trial);
  if (had >= room) return false;
  add(trial, had > room / 2 ? room : std::max<int64_t>(1, 2 * had));
  return true;
}

Simulation simulate(const std::vector<MeasuredTrial>& trials,
                    const std::vector<DeviceRoom>& devices, std::size_t at_once) {
  Admission admission(devices, at_once);
  Simulation out;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    admission.add(i, trials[i].bytes);
    if (trials[i].needed > trials[i].bytes) ++out.exceeded;
  }
  std::multimap<double, std::size_t> ends;  // of those that run
  double now = 0, admitted_seconds = 0, crowded_seconds = 0;
  for (;;) {
    while (const auto start = admission.next()) {
      ends.emplace(now + trials[start->trial].seconds, start->trial);
    }
    out.most_admitted = std::max(out.most_admitted, admission.running());
    for (std::size_t i = 0; i < devices.size(); ++i) {
      out.peak_reserved = std::max(out.peak_reserved, admission.reserved(i));
    }
    if (ends.empty()) break;
    const double until = ends.begin()->first;
    if (admission.waiting() > 0) {
      admitted_seconds += static_cast<double>(admission.running()) * (until - now);
      crowded_seconds += until - now;
    }
    now = until;
    admission.finish(ends.begin()->second);
    ends.erase(ends.begin());
  }
  out.seconds = now;
  out.mean_admitted = crowded_seconds > 0 ? admitted_seconds / crowded_seconds
                                          : static_cast<double>(out.most_admitted);
  return out;
}

std::size_t published_workers(double total, double buffer, double model) {
  return static_cast<std::size_t>(std::max(1.0, std::floor((total - buffer) / model)));
}

}  // namespace kdgat
