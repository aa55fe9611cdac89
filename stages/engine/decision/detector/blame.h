// Which ids made a window score what it scores: they are taken out of it one after another, the one
// without which it scores least first, and what the score falls by is the part of each.
//
// An id is taken out by computing the window's columns without its frames, and without waiting for
// it where it is silent. No column ever grows by that, and no score ever grows with a smaller
// column: parts are never negative. They add up, as each is counted when those ahead of it are
// gone.
//
// Ids that the profile does not have share one column, which counts their frames: of a flood of
// hundreds none alone makes a difference. So they are taken out together, but for one that sends
// more than half of these frames. Several ids may be odd enough each: where no single one makes a
// difference and what is left would be flagged, those that score highest alone are one part, as few
// as make a difference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/data/can/windows/relative_windows.h"
#include "engine/decision/detector/detector_model.h"

namespace kdgat::decision {

/// One part of a score.
struct BlamedIds {
  std::vector<uint32_t> keys;  ///< ComparedFrame::key; of several the one that is most odd first
  double score = 0;            ///< what the window's score falls by without them; > 0
  /// Columns that fall.
  std::array<bool, data::kRelativeColumns> columns{};
  bool laws = false;  ///< fewer frames break laws of their payloads without them
};

struct Blame {
  double score = 0;              ///< of the whole window
  std::vector<BlamedIds> parts;  ///< in the order in which they were taken out
  double rest = 0;               ///< what is left: score less the sum of the parts
};

/// At most `most` parts of windows.window(). Some microseconds where nothing is odd, some hundred
/// of a window under attack.
Blame blame_of(const DetectorModel& model, const Decision& decision,
               const data::RelativeWindows& windows, std::size_t most);

}  // namespace kdgat::decision
