// A sweep in words: tables of its trials, the best one, and what it would be on another device.
// Pure: from what tune.json says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/tune/saved_sweep.h"

namespace kdgat {

/// The options that trials differ in.
std::vector<std::string> tried_keys(const SavedSweep& sweep);

/// One line a trial, the best first: its values, the metric, further numbers of validation, memory
/// and time.
std::string trials_table(const SavedSweep& sweep);
/// The best trial and what test data say of it; how long it all took.
std::string best_lines(const SavedSweep& sweep);

/// By the published rule.
struct PublishedSimulation : Simulation {
  std::size_t workers = 0;

  static auto keys() {
    return std::tuple_cat(Simulation::keys(),
                          std::tuple{key("workers", &PublishedSimulation::workers, "at once")});
  }
};

/// What the trials of a sweep would be on another device, against the published rule.
struct SweepSimulation {
  double total = 0;
  int64_t room = 0;
  std::size_t trials = 0;
  Simulation measured;
  PublishedSimulation published{};

  static auto keys() {
    using T = SweepSimulation;
    return std::tuple{
        key("total", &T::total, "memory of the device, bytes"),
        key("room", &T::room, "of it for trials, bytes"),
        key("trials", &T::trials, "that were measured, times --copies"),
        key("measured", &T::measured, "admitted by what each trial was measured to need"),
        key("published", &T::published, "admitted by the published rule")};
  }
};

/// On a device of `total` bytes of which `buffer` stay free; by the published rule with `model`
/// bytes a trial. `copies` of each trial.
SweepSimulation simulate_sweep(const SavedSweep& sweep, double total, double buffer, double model,
                               int64_t copies);
std::string simulation_text(const SweepSimulation& simulation);

}  // namespace kdgat
