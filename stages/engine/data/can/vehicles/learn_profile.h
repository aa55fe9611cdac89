// What traffic of logs teaches of what is usual: of pieces of logs, of a log's own beginning, and
// as if less had been seen.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/arrays/random.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/data/can/windows/vehicle_profile.h"

namespace kdgat::data {

/// Rows [begin, end) of a log.
struct Piece {
  const StoredLog* log;
  int64_t begin, end;
};
/// A row of a log: what it teaches. One that is labelled as an attack teaches nothing.
inline void learn_row(const CanFrame& frame, bool restarts, ProfileBuilder& builder) {
  if (restarts) builder.restart();
  if (frame.label == 1) {
    builder.pass_over_attack();
  } else {
    builder.add(frame);
  }
}
/// What the benign rows of these pieces teach. `with_steps`: see ProfileBuilder.
VehicleProfile learn_profile(std::span<const Piece> pieces, bool with_steps = false);

/// Seconds of its own that the profile of a vehicle never seen is learned from, unless said.
inline constexpr double kOwnSeconds = 15;
/// Frames of its own that a log's profile is learned from at most: they are kept until then.
inline constexpr int64_t kMostOwnFrames = 1'000'000;
inline constexpr int64_t kLeastOwn = 20;  ///< windows; fewer say too little of what is usual
/// Of so many windows those that kMostOwnFrames allow, and at least kLeastOwn.
inline int64_t own_windows_of(int64_t wanted, int64_t window) {
  return std::max(kLeastOwn, std::min(wanted, kMostOwnFrames / window));
}

/// How long traffic was listened to, frame by frame: a pause or a jump of the clock counts a second
/// at most, a frame without a time as at kAssumedRate.
class HeardTime {
 public:
  void add(double time) {
    const double gap = time - last_;
    if (frames_++ > 0) {
      seconds_ +=
          std::isnan(gap) ? 1.0 / static_cast<double>(kAssumedRate) : std::clamp(gap, 0.0, 1.0);
    }
    last_ = time;
  }
  double seconds() const { return seconds_; }

 private:
  int64_t frames_ = 0;
  double last_ = 0, seconds_ = 0;
};

/// Windows that begin in the first `seconds` of a log, as own_windows_of() bounds them; at most
/// those that it has.
int64_t own_windows_in(const StoredLog& log, int64_t window, double seconds);

/// The first `windows` of the log that end ahead of its first attack row, and what they teach; no
/// profile where there are fewer than kLeastOwn.
struct OwnBeginning {
  int64_t windows = 0;
  std::optional<VehicleProfile> profile;
};
OwnBeginning learn_own(const StoredLog& log, int64_t window, int64_t windows,
                       bool with_steps = false);

/// As `profile`, but that of a share of ids some bytes seem never to have moved.
VehicleProfile forget_moves(VehicleProfile profile, double share, arrays::Random& random);

}  // namespace kdgat::data
