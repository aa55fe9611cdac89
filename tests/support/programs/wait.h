// Waiting for what another thread or process does: for a condition, never for a time.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace kdgat::test {

/// Ends a wait for something that never comes. No test may depend on it: everything else takes much
/// less, on a slow and busy machine too.
inline constexpr std::chrono::seconds kHangLimit{300};

/// Waits until `holds` returns true; false if it never does.
inline bool comes_true(const std::function<bool()>& holds) {
  constexpr std::chrono::milliseconds kPause{2};
  const auto until = std::chrono::steady_clock::now() + kHangLimit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace kdgat::test
