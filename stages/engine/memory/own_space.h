// What one of several stages that run in threads of a process has to itself.
#pragma once

#include <c10/core/StreamGuard.h>

#include <optional>

#include "engine/memory/arena.h"
#include "kdgat/stage.h"

namespace kdgat::memory {

/// While it lives, the calling thread has an arena of its own and, on an accelerator, a stream of
/// its own, so that stages do not wait for one another's kernels. Does nothing for a stage that has
/// the process alone (MemoryRequest::own).
class OwnSpace {
 public:
  explicit OwnSpace(const Request& request);

 private:
  std::optional<OwnArena> arena_;
  std::optional<c10::StreamGuard> stream_;
};

}  // namespace kdgat::memory
