// What an attacker who sits on a bus adds to, changes in or drops from recorded traffic during one
// attack. Everything that differs between two attacks of a kind (rates, delays, bytes, values) is
// drawn, so that whoever learns from them sees variety. Knows nothing about files, nor about when
// the bus is free.
//
//   dos            the lowest id, or one that wins over all others, 500 to 2,000 times a second
//   fuzzing        random ids and payloads
//   fuzzing-known  ids of the log, random payloads
//   spoofing       one id, forged, beside its true frames, 1.3 to 10 times as often
//   fabrication    a forged frame after true ones of one id: right after, or up to half a period
//   targeted       some bytes of one id, forged in a few more frames of it
//   masquerade     the true frames of one id, with forged bytes
//   suspension     one id falls silent
//   replay         frames recorded earlier, of all or some ids, sent again
//
//   masquerade-frozen     the same of an id that counts, whose counters hold their value
//   masquerade-unchecked  the same of an id with a checksum: the counters go on, and bytes that the
//                         checksum is of, or its own, are forged
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/recording.h"
#include "engine/data/can/logs/can_options.h"

namespace kdgat::data {

/// Where and when one attack takes place.
struct AttackScene {
  const Recording& recording;
  const CanInjectOptions& options;
  int64_t begin_us, end_us;
  const IdRows* target;  ///< of kinds that have one, with two frames at least in this time
};

struct PlannedFrame {
  int64_t ready_us;
  CanFrame frame;  ///< without time and label
};

struct AttackPlan {
  std::vector<PlannedFrame> added;                        ///< in the order in which they are ready
  std::vector<std::pair<std::size_t, CanFrame>> changed;  ///< row, and what it becomes
  std::vector<std::size_t> removed;                       ///< rows
};

struct AttackKind {
  const char* name;
  bool has_target;  ///< one id, sent regularly
  bool forges;      ///< bytes of its payload
  double adds;      ///< frames a second, on average of its rates; 0 where that is up to the traffic
  AttackPlan (*plan)(const AttackScene& scene, arrays::Random& random);
  /// Whether an id can be the target; nullptr: any one can.
  bool (*suits)(const Recording& recording, const IdRows& id) = nullptr;
  const char* needs = "";  ///< what such an id has
};

/// Throws Error(kUsage) for an unknown name.
const AttackKind& attack_kind(const std::string& name);

}  // namespace kdgat::data
