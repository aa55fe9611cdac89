// Frames as rows of a store and back.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/graph/sections/frames.h"

namespace kdgat::data {

/// `restarts`: the frame begins another capture. The first frame of more than 8 bytes widens all.
void add_row(const CanFrame& frame, bool restarts, graph::Frames::Data& rows);

/// Row `row`, below frames.rows().
CanFrame frame_of(const graph::Frames& frames, int64_t row);
/// CanFrame::key() of a row.
inline uint32_t key_of(const graph::Frames& frames, int64_t row) {
  const auto i = static_cast<std::size_t>(row);
  const auto channel = static_cast<uint32_t>(frames.flags[i] >> graph::Frames::kChannelShift);
  return channel << 29 | static_cast<uint32_t>(frames.id[i]);
}
inline bool restarts(const graph::Frames& frames, int64_t row) {
  return (frames.flags[static_cast<std::size_t>(row)] & graph::Frames::kRestart) != 0;
}

}  // namespace kdgat::data
