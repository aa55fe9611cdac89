// Believable CAN traffic with labelled attacks, for tests, examples and the embedded smoke profile.
// The same bytes for the same options, on every machine. No LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "graph/can_frame.h"
#include "kdgat/options.h"

namespace kdgat::graph {

struct SynthOptions {
  double seconds = 60;
  int64_t seed = 1;
  int64_t vehicles = 3;
  std::vector<std::string> attacks = {"dos", "fuzzing", "spoofing", "replay", "suspension", "masquerade"};
  std::string format = "can-train-and-test";

  static auto table() {
    using O = SynthOptions;
    return std::tuple{
        field("seconds", &O::seconds, "Length of each log.").range(1, 86400),
        field("seed", &O::seed, "Seed; the same bytes for the same seed."),
        field("vehicles", &O::vehicles, "Number of vehicles.").range(1, 64),
        field("attacks", &O::attacks, "Attacks, one log each.")
            .choices({"dos", "fuzzing", "spoofing", "replay", "suspension", "masquerade"}),
        field("format", &O::format, "Form of the logs written.")
            .choices({"can-train-and-test", "hcrl", "candump"})};
  }
};

/// Frames of one log of one vehicle; `attack` empty = attack-free.
std::vector<CanFrame> synthesize(const SynthOptions& options, int64_t vehicle, const std::string& attack);

/// Writes the published folder layout (train_01_attack_free, train_02_with_attacks,
/// test_01_known_vehicle_known_attack, ...) below `folder`. Throws Error(kData).
void write_synthetic(const std::filesystem::path& folder, const SynthOptions& options);

}  // namespace kdgat::graph
