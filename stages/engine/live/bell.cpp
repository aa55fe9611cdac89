#include "engine/live/bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace kdgat::live {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the kernel reads the word");

}  // namespace

int64_t monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * kSecond + now.tv_nsec;
}

bool Bell::sleep(int64_t deadline) {
  if (deadline <= 0) return false;
  timespec until{};
  until.tv_sec = static_cast<time_t>(deadline / kSecond);
  until.tv_nsec = static_cast<long>(deadline % kSecond);
  // With a bit set the time is a moment and no span, so that being woken for nothing delays
  // nothing.
  const long rc = ::syscall(SYS_futex, &sleepers_, FUTEX_WAIT_BITSET_PRIVATE, 1,
                            deadline == kNever ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  return rc == 0 || errno != ETIMEDOUT;
}

void Bell::wake() { ::syscall(SYS_futex, &sleepers_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

}  // namespace kdgat::live
