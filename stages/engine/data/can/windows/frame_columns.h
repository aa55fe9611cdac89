// Numbers of each frame of a window next to what is usual on its vehicle, for who looks for those
// that were injected: the frame's own, those of the frames of its id on both sides of it, and some
// of its id in the window. They mean the same on every vehicle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/can/windows/relative_window.h"
#include "engine/portable/vehicle.h"

namespace kdgat::data {

/// Names of the columns: a file that was made with others is of another version.
std::vector<std::string> frame_column_names();

/// Whether a model may never score a frame lower where the column grows, [columns] of 1 and 0.
std::vector<int> frame_column_order();

/// [frames, columns], in the order of the frames. `seconds`: of the window. NaN where there is no
/// such neighbour in the window.
std::vector<float> frame_columns(std::span<const ComparedFrame> frames, double seconds,
                                 const kdgat_vehicle& vehicle);

}  // namespace kdgat::data
