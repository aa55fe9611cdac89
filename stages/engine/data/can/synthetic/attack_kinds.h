// What an attacker who sits on a bus adds to, changes in or drops from traffic during one attack: a
// row of the table in attack_kinds.cpp for each kind. Everything that differs between two attacks
// of a kind in recorded traffic (rates, delays, bytes, values) is drawn, so that whoever learns
// from them sees variety; in made-up traffic it is fixed. Knows nothing about files, nor about when
// the bus is free.
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
#include "engine/data/can/synthetic/attack_options.h"

namespace kdgat::data {

struct Message;

/// Where and when one attack takes place.
struct AttackScene {
  const Recording& recording;
  const CanInjectOptions& options;
  int64_t begin_us, end_us;
  const IdRows* target;  ///< of kinds that have one, with two frames at least in this time
  const Message* layout = nullptr;  ///< of its payload, in made-up traffic
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

using PlanAttack = AttackPlan (*)(const AttackScene& scene, arrays::Random& random);

/// A kind as made-up traffic has it.
struct SynthAttack {
  int number =
      0;  ///< from 1, by which drives are drawn: never changes; 0: made-up traffic has none
  int64_t share = 0;      ///< thousandths of the drive; the more frames it adds, the fewer
  int64_t period_us = 0;  ///< of its target: the first id sent so often
  PlanAttack plan = nullptr;
};

struct AttackKind {
  const char* name;
  const char* help;
  bool usual = false;       ///< written, and learned by detectors, where none is named
  bool has_target = false;  ///< one id, sent regularly
  bool forges = false;      ///< bytes of its payload
  bool has_rate = false;    ///< that the options may say
  double adds = 0;  ///< frames a second, on average of its rates; 0 where that is up to the traffic
  PlanAttack plan = nullptr;  ///< in recorded traffic
  SynthAttack synth{};
  /// Whether an id can be the target; nullptr: any one can.
  bool (*suits)(const Recording& recording, const IdRows& id) = nullptr;
  const char* needs = "";  ///< what such an id has
};

/// Throws Error(kUsage) for an unknown name.
const AttackKind& attack_kind(const std::string& name);
/// The same for one that made-up traffic has not.
const SynthAttack& synth_attack(const std::string& name);

}  // namespace kdgat::data
