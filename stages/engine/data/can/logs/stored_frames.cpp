#include "engine/data/can/logs/stored_frames.h"

#include <algorithm>
#include <cstddef>

namespace kdgat::data {
namespace {

constexpr int64_t kNarrow = 8, kWide = 64;

void widen(graph::Frames::Data& rows) {
  rows.payload.resize(rows.id.size() * kWide);
  // From the last row on: no row is overwritten before it was moved.
  for (std::size_t row = rows.id.size(); row-- > 0;) {
    uint8_t* wide = rows.payload.data() + row * kWide;
    std::copy_backward(rows.payload.data() + row * kNarrow,
                       rows.payload.data() + (row + 1) * kNarrow, wide + kNarrow);
    std::fill(wide + kNarrow, wide + kWide, uint8_t{0});
  }
  rows.width = kWide;
}

}  // namespace

void add_row(const CanFrame& frame, bool restarts, graph::Frames::Data& rows) {
  if (frame.length > kNarrow && rows.width == kNarrow) widen(rows);
  rows.time.push_back(frame.time);
  rows.id.push_back(static_cast<int32_t>(frame.id));
  rows.length.push_back(frame.length);
  rows.flags.push_back(static_cast<uint8_t>(
      (frame.label == 1 ? graph::Frames::kAttack : 0) |
      (frame.label < 0 ? graph::Frames::kUnlabelled : 0) |
      (restarts ? graph::Frames::kRestart : 0) | (frame.extended ? graph::Frames::kExtended : 0) |
      (frame.remote ? graph::Frames::kRemote : 0) | frame.channel << graph::Frames::kChannelShift));
  rows.payload.append(frame.payload.begin(), frame.payload.begin() + rows.width);
}

CanFrame frame_of(const graph::Frames& frames, int64_t row) {
  const auto i = static_cast<std::size_t>(row);
  const uint8_t flags = frames.flags[i];
  CanFrame out;
  out.time = frames.time[i];
  out.id = static_cast<uint32_t>(frames.id[i]);
  out.length = frames.length[i];
  out.label = (flags & graph::Frames::kAttack) != 0       ? 1
              : (flags & graph::Frames::kUnlabelled) != 0 ? -1
                                                          : 0;
  out.extended = (flags & graph::Frames::kExtended) != 0;
  out.remote = (flags & graph::Frames::kRemote) != 0;
  out.fd = out.length > kNarrow;
  out.channel = static_cast<uint8_t>(flags >> graph::Frames::kChannelShift);
  const auto width = static_cast<std::size_t>(frames.width);
  std::copy_n(frames.payload.data() + i * width, width, out.payload.begin());
  return out;
}

}  // namespace kdgat::data
