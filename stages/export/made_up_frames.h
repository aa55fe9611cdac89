// Frames of nobody's car: what exports are compared on where there is no better.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::exporting {

/// The same for the same ids: each id at a pace of its own with bytes that count, idle or jump, and
/// now and then a stretch of unknown ids, of one id alone, of other lengths. `keys`:
/// CanFrame::key() of the first bus. Times in whole microseconds, so that text keeps them.
std::vector<data::CanFrame> made_up_frames(std::span<const int64_t> keys, int64_t count);

}  // namespace kdgat::exporting
