#include "pipeline/alarms/patience.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>

#include "kdgat/error.h"

namespace kdgat {

Patience::Patience() : over_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (over_.get() < 0) {
    throw Error(ExitCode::kStageFailed,
                std::string("cannot watch over the alarms: ") + std::strerror(errno));
  }
}

void Patience::end() {
  const uint64_t one = 1;
  // Can only fail when it is over already.
  [[maybe_unused]] const ssize_t wrote = ::write(over_.get(), &one, sizeof one);
}

bool Patience::is_over() const {
  pollfd over{over_.get(), POLLIN, 0};
  return ::poll(&over, 1, 0) > 0;
}

bool Patience::wait_any(std::vector<pollfd>& ready, Deadline until) const {
  using std::chrono::milliseconds;
  constexpr milliseconds kMost{60000};  // of one call of poll
  ready.push_back({over_.get(), POLLIN, 0});
  int got = 0;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    const int pause = static_cast<int>(std::clamp(left, milliseconds{0}, kMost).count());
    got = ::poll(ready.data(), ready.size(), pause);
    if (got > 0 || (got < 0 && errno != EINTR) || left.count() <= 0) break;
  }
  const bool is_last = ready.back().revents != 0;
  ready.pop_back();
  return got > 0 && !is_last;
}

bool Patience::wait(int fd, short events, Deadline until) const {
  std::vector<pollfd> ready{{fd, events, 0}};
  return wait_any(ready, until);
}

bool Patience::wait(int fd, short events) const { return wait(fd, events, Deadline::max()); }

}  // namespace kdgat
