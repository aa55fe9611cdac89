// Which waiting trials may begin: each with a reservation of memory on one of the devices, the
// largest that fits first. Pure: no clock, no process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/system/record.h"

namespace kdgat {

/// Memory for trials on a device.
struct DeviceRoom {
  std::string name;
  int64_t bytes = 0;

  static auto keys() {
    return std::tuple{key("device", &DeviceRoom::name, "cpu or cuda:N"),
                      key("room", &DeviceRoom::bytes, "for trials, bytes")};
  }
};

class Admission {
 public:
  /// At most `at_once` trials hold reservations; 0 = as many as there is memory for.
  Admission(std::vector<DeviceRoom> devices, std::size_t at_once);

  /// A trial waits from now on. A reservation larger than every device is cut to the largest: the
  /// trial will be alone there.
  void add(std::size_t trial, int64_t bytes);
  struct Start {
    std::size_t trial = 0, device = 0;
    int64_t bytes = 0;
  };
  /// Takes the largest waiting trial that fits a device now, on the one with the most memory free;
  /// of equals the one that came first. nullopt: all that wait must wait on.
  std::optional<Start> next();
  /// Gives the reservation back.
  void finish(std::size_t trial);
  /// The trial ran out of memory: it gives its reservation back and waits for twice that. False if
  /// it had a whole device to itself: there is no more to be had.
  bool requeue_larger(std::size_t trial);

  bool is_idle() const { return running_.empty(); }
  std::size_t running() const { return running_.size(); }
  std::size_t waiting() const { return waiting_.size(); }
  /// Bytes reserved on a device, of which it has as many as in DeviceRoom.
  int64_t reserved(std::size_t device) const { return reserved_[device]; }
  /// The largest reservation there can be.
  int64_t largest_room() const;

 private:
  struct Waiting {
    std::size_t trial = 0;
    int64_t bytes = 0;
  };
  std::vector<DeviceRoom> devices_;
  std::vector<int64_t> reserved_;
  std::size_t at_once_;
  std::vector<Waiting> waiting_;  // largest first, then in order of arrival
  std::vector<Start> running_;
};

/// A trial as it was measured.
struct MeasuredTrial {
  int64_t bytes = 0;   ///< its reservation
  int64_t needed = 0;  ///< the peak it came to
  double seconds = 0;
};

/// What a sweep would be on devices that are not here, by the rule of Admission: each trial takes
/// the time it took, however many run beside it.
struct Simulation {
  double seconds = 0;        ///< from the first start to the last end
  double mean_admitted = 0;  ///< trials at once, over the time in which some wait; if none ever
                             ///< waits, those that begin at once
  std::size_t most_admitted = 0;
  int64_t peak_reserved = 0;  ///< on the device that had most
  std::size_t exceeded = 0;   ///< trials that needed more than their reservation

  static auto keys() {
    using T = Simulation;
    return std::tuple{key("seconds", &T::seconds, "of the whole sweep, seconds"),
                      key("mean_admitted", &T::mean_admitted, "trials at once, in the mean"),
                      key("most_admitted", &T::most_admitted, "trials at once"),
                      key("peak_reserved", &T::peak_reserved, "bytes").of_type("number"),
                      key("exceeded", &T::exceeded, "times that trials needed more than there is")};
  }
};
Simulation simulate(const std::vector<MeasuredTrial>& trials,
                    const std::vector<DeviceRoom>& devices, std::size_t at_once);

/// The published number of workers on one device: floor((total - buffer) / model), at least 1; all
/// three in the same unit.
std::size_t published_workers(double total, double buffer, double model);

}  // namespace kdgat
