// How long a sink of alarms tries: until the run says that it is over. Owns what wakes those who
// wait. Knows no sink.
#pragma once

#include <poll.h>

#include <vector>

#include "pipeline/system/owned_fd.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {

class Patience {
 public:
  /// Throws Error(kStageFailed) if the system has no descriptor left.
  Patience();

  /// From any thread, once and for all: who waits stops waiting.
  void end();
  bool is_over() const;

  /// Waits until a descriptor is ready; one of -1 never is. False at the deadline, and when it is
  /// over.
  bool wait(int fd, short events, Deadline until) const;
  /// The same without a deadline.
  bool wait(int fd, short events) const;
  /// The same for any of several, whose `revents` say which.
  bool wait_any(std::vector<pollfd>& ready, Deadline until) const;

 private:
  OwnedFd over_;  ///< to be read from once it is over
};

}  // namespace kdgat
