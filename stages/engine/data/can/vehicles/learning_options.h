// What of training logs is learned from, as options of whatever learns windows.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/can/synthetic/attack_names.h"
#include "engine/data/can/vehicles/learn_profile.h"
#include "kdgat/options.h"

namespace kdgat::data {

struct LearningOptions {
  bool use_labels = true;
  std::vector<std::string> inject = usual_attacks();
  double own_seconds = kOwnSeconds;
  int64_t most_windows = 50'000;
  double forgotten = 0.5;

  static auto table() {
    using O = LearningOptions;
    return std::tuple{
        field("use_labels", &O::use_labels, Purpose::kData,
              "Learn from the attacks in training logs, too, not from injected ones alone."),
        field("inject", &O::inject, Purpose::kData,
              "Attacks that are injected into benign training traffic.")
            .choices(usual_attacks()),
        field(
            "own_seconds", &O::own_seconds,
            "Seconds of its own traffic that the profile of a vehicle never seen is learned from; "
            "at least 20 windows, at most a million frames.")
            .range(1, 3600),
        field("most_windows", &O::most_windows,
              "Windows of the training logs that are learned from at most, each of them seen "
              "against several profiles; of more, pieces from everywhere.")
            .range(1000, 1e7),
        field("forgotten", &O::forgotten,
              "Share of ids of which a profile forgets, for further passes over the training "
              "windows, that some of their bytes ever moved: so a signal that happened to rest "
              "when the profile was learned is no alarm. 0: no such pass.")
            .range(0, 1)};
  }
  bool operator==(const LearningOptions&) const = default;
};

}  // namespace kdgat::data
