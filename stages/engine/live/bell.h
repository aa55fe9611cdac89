// Bell: where one thread sleeps until another rings or a moment is past, without a call of the
// system while nobody sleeps. Also the clock that such moments are of. Knows nothing of frames.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace kdgat::live {

/// A moment that never comes.
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// CLOCK_MONOTONIC, nanoseconds; moments below are of this clock.
int64_t monotonic_now();

class Bell {
 public:
  /// By one thread at a time: sleeps until `is_ready()` or until `deadline`; answers is_ready().
  /// Who makes it ready rings afterwards.
  template <class Ready>
  bool wait_until(int64_t deadline, Ready is_ready) {
    for (;;) {
      // Both sides exchange: whichever comes second sees what the first one wrote ahead of it, so
      // either this finds it ready or the other finds this asleep.
      sleepers_.exchange(1, std::memory_order_acq_rel);
      if (is_ready() || !sleep(deadline)) break;
    }
    sleepers_.store(0, std::memory_order_relaxed);
    return is_ready();
  }

  /// From any thread.
  void ring() {
    if (sleepers_.exchange(0, std::memory_order_acq_rel) != 0) wake();
  }

 private:
  /// While sleepers_ is 1; false: the deadline is past.
  bool sleep(int64_t deadline);
  void wake();

  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace kdgat::live
