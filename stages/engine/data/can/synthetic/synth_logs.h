// Believable CAN traffic with labelled attacks, for tests, examples and the smoke profile. The same
// bytes for the same options, on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/synthetic/attack_options.h"

namespace kdgat::data {

/// Frames of one log of one vehicle, `options.seconds` long, about 330 frames/s; `attack` empty =
/// attack-free. Another `drive` is the same vehicle on another day. See attack_kinds.h for what
/// each attack does and which rows it labels. Throws Error(kUsage) for an unknown attack.
std::vector<CanFrame> synthesize(const CanSynthOptions& options, int64_t vehicle,
                                 const std::string& attack, int64_t drive = 0);

/// Writes the published folder layout below `folder`: train_01_attack_free and
/// train_02_with_attacks with all vehicles but the last, test_01_known_vehicle_known_attack with
/// other drives of them, and, from two vehicles on, test_02_unknown_vehicle_known_attack with the
/// last. Throws Error(kData), and Error(kInterrupted) once `cancelled` answers true, asked between
/// two files.
void write_synthetic_logs(const std::filesystem::path& folder, const CanSynthOptions& options,
                          const std::function<bool()>& cancelled = {});

/// The benign traffic of all vehicles as one log in the form of candump, each on a bus of its own,
/// piece by piece: memory does not grow with options.seconds. `write` gets some thousand rows at a
/// time. Throws what `write` throws, and Error(kInterrupted) once `cancelled`.
void stream_synthetic_log(const CanSynthOptions& options,
                          const std::function<void(std::string_view)>& write,
                          const std::function<bool()>& cancelled = {});

}  // namespace kdgat::data
