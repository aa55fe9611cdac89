// Attacks injected into made-up traffic.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/synthetic/inject.h"
#include "engine/data/can/synthetic/synth_logs.h"
#include "kdgat/error.h"

namespace kdgat::test {

inline std::vector<data::CanFrame> benign_traffic(double seconds, int64_t vehicle = 0) {
  data::CanSynthOptions options;
  options.seconds = seconds;
  return data::synthesize(options, vehicle, "");
}

inline data::Injection inject_seeded(const std::vector<data::CanFrame>& benign,
                                     const std::string& kind,
                                     const data::CanInjectOptions& options = {},
                                     uint64_t seed = 1) {
  arrays::Random random(seed);
  return data::inject(benign, kind, options, random);
}

inline bool is_inside(const data::Injection& made, double time) {
  return std::any_of(made.attacks.begin(), made.attacks.end(), [&](const data::Attack& attack) {
    return attack.begin <= time && time <= attack.end + 1e-6;
  });
}

/// The message of what is thrown, and that it has this code.
inline std::string refusal(const std::vector<data::CanFrame>& frames, const std::string& kind,
                           ExitCode code, const data::CanInjectOptions& options = {}) {
  try {
    inject_seeded(frames, kind, options);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace kdgat::test
