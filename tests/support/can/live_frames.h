// What tests of live sources share: frames taken until there are enough, with an end where none
// come.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "engine/live/frame_source.h"
#include "support/programs/wait.h"

namespace kdgat::test {

/// Tests that fail wait so long, others never.
inline constexpr std::chrono::seconds kPatience = kHangLimit;

/// The next `count` frames, fewer where the source ended or nothing came.
inline std::vector<live::LiveFrame> take(live::FrameSource& source, std::size_t count) {
  std::vector<live::LiveFrame> out;
  while (out.size() < count) {
    const auto frames = source.next(kPatience);
    if (frames.empty()) break;
    out.insert(out.end(), frames.begin(), frames.end());
  }
  return out;
}

/// All that follow, to the end.
inline std::vector<live::LiveFrame> take_all(live::FrameSource& source) {
  return take(source, static_cast<std::size_t>(-1));
}

}  // namespace kdgat::test
