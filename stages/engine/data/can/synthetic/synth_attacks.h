// What an attacker adds to, drops from or changes in a vehicle's traffic. Knows nothing about
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/synthetic/synth_traffic.h"

namespace kdgat::data {

/// Applies `attack` (one of SynthOptions::attacks) to a drive of `duration_us`, in intervals about
/// 12 s apart that make 10-20 % of the windows of 100 rows attacks:
///   dos          id 000, all zero, every 1 ms
///   fuzzing      random 11-bit ids and payloads, about every 2 ms
///   spoofing     the first 50 ms id, forged, every 5 ms beside the true frames
///   replay       frames recorded earlier in the same drive, sent again
///   suspension   the first 20 ms id falls silent; a missing frame labels the frame after it
///   masquerade   the first 20 ms id keeps times, counter and checksum; its signals are forged
/// Throws Error(kUsage) for an unknown name.
void add_attack(const std::string& attack, const std::vector<Message>& messages,
                arrays::Random random, int64_t duration_us, std::vector<Transmission>& drive);

}  // namespace kdgat::data
