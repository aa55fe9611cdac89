// Waiting for a condition that another thread brings about.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace kdgat {

/// Waits until `is_ready()`, which is called with the lock held. std::condition_variable::wait is a
/// symbol of GLIBCXX_3.4.30, which systems of manylinux_2_34 lack; a wait with a time limit is not.
template <typename IsReady>
void wait_for(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
              IsReady is_ready) {
  while (!changed.wait_for(lock, std::chrono::hours(1), is_ready)) {
  }
}

}  // namespace kdgat
