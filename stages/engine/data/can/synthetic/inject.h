// Writes attacks into recorded benign traffic, in memory. Knows nothing about files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/synthetic/attack_options.h"

namespace kdgat::data {

/// One attack, in seconds of the log's clock.
struct Attack {
  double begin = 0, end = 0;
  std::optional<uint32_t> id{};  ///< of kinds that have a target
};

struct Injection {
  std::vector<CanFrame> frames;  ///< labelled 1 where attacked, 0 elsewhere
  std::vector<Attack> attacks;   ///< in their order; each left a trace
  int64_t added = 0;             ///< frames, all of them labelled
  int64_t changed = 0;           ///< frames whose payload is not the recorded one; labelled
  int64_t removed = 0;           ///< frames; the one after each gap is labelled
  int64_t no_room = 0;           ///< frames for which the bus had no time before the attack ended
};

/// Attacks of one kind (a choice of CanInjectOptions::attacks; see attack_kinds.h), in intervals
/// that alternate with benign traffic, for as long as the log lasts. `benign` is what a CanLog
/// gives, in its order; a fall of the clock by a second starts another capture, which is attacked
/// by itself, on one of its buses. Rows without a label are taken as benign; rows labelled as
/// attacks stay as they are.
///
/// Recorded frames keep their order, times and payloads, but for those that are changed or removed.
/// Added ones lie between the first and the last of their capture, where a bus of
/// `options.bitrate` has time for them, and share their time with no frame. The same `random` gives
/// the same frames. Throws Error(kUsage) for an unknown kind or wrong options, Error(kData) where
/// the log has no times, one id only, is too short, or has nothing that the kind could attack.
Injection inject(std::span<const CanFrame> benign, const std::string& kind,
                 const CanInjectOptions& options, arrays::Random& random);

}  // namespace kdgat::data
