// What an attacker adds to, drops from or changes in a vehicle's traffic. Knows nothing about
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/synthetic/synth_traffic.h"

namespace kdgat::data {

/// Applies `attack` (one of SynthOptions::attacks; see attack_kinds.cpp) to a drive of
/// `duration_us`, in intervals about 12 s apart. A missing frame labels the frame after it. Throws
/// Error(kUsage) for a name that is none of synth_attacks().
void add_attack(const std::string& attack, const std::vector<Message>& messages,
                arrays::Random random, int64_t duration_us, std::vector<Transmission>& drive);

}  // namespace kdgat::data
