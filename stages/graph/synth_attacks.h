// What an attacker adds to, drops from or changes in a vehicle's traffic. Knows nothing about
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/random.h"
#include "graph/synth_traffic.h"

namespace kdgat::graph {

/// Applies `attack` (one of SynthOptions::attacks) to a drive of `duration_us`, in intervals about
/// 12 s apart that make 10-20 % of the windows of 100 rows attacks:
///   dos          id 000, all zero, every 1 ms
///   fuzzing      random 11-bit ids and payloads, about every 2 ms
///   spoofing     one id of the vehicle with a forged payload every 5 ms, beside the true frames
///   replay       frames recorded earlier in the same drive, sent again
///   suspension   one id falls silent; each missing frame labels the frame after it
///   masquerade   one id keeps its times, counter and checksum but carries forged signals
/// Throws Error(kUsage) for an unknown name.
void add_attack(const std::string& attack, const std::vector<Message>& messages, Random random,
                int64_t duration_us, std::vector<Transmission>& drive);

}  // namespace kdgat::graph
