// Which ids made a window odd: each is taken out of the traffic around it, and what the score loses
// by that is its part. No LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/can/can_frame.h"
#include "data/can/vehicle_profile.h"
#include "detector/detector_model.h"

namespace kdgat::detector {

/// A row of a log while it streams; `restarts`: another capture begins with it.
struct LogRow {
  graph::CanFrame frame;
  bool restarts = false;
};

/// Windows that a window is looked at in: as many ahead of it, so that gaps and payloads of rarer
/// ids are known, and the one behind it.
inline constexpr int64_t kBlameAhead = 14;

/// CanFrame::key() of at most `most` ids without which the window would score lower, the largest
/// difference first; then those that the profile does not have, the most frequent first, as of many
/// unknown ids none alone makes a difference. `rows`: of kBlameAhead windows or fewer, of the
/// window, which begins at `first`, and of what came after it. It takes some milliseconds.
std::vector<uint32_t> ids_behind(const DetectorModel& model, const graph::VehicleProfile& profile,
                                 const Decision& decision, std::span<const LogRow> rows,
                                 std::size_t first, std::size_t most);

}  // namespace kdgat::detector
