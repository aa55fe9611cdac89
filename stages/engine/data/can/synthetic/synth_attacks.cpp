#include "engine/data/can/synthetic/synth_attacks.h"

#include <algorithm>

#include "engine/data/can/synthetic/attack_kinds.h"

namespace kdgat::data {
namespace {

struct Interval {
  int64_t begin_us, end_us;
};

constexpr int64_t kSpacing = 12'000'000;

/// One interval in each `kSpacing` of the drive (one at least), `share` thousandths of it long,
/// +-25 %, in its second half so that every log begins benign.
std::vector<Interval> make_intervals(arrays::Random& random, int64_t duration_us, int64_t share) {
  const int64_t count = std::max<int64_t>(1, duration_us / kSpacing);
  const int64_t spacing = duration_us / count;
  std::vector<Interval> out;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length =
        spacing * share / 1000 * (750 + static_cast<int64_t>(random.below(501))) / 1000;
    const auto room = static_cast<uint64_t>(spacing / 2 - length);
    const int64_t begin = i * spacing + spacing / 2 + static_cast<int64_t>(random.below(room));
    out.push_back({begin, begin + length});
  }
  return out;
}

/// The first message of a period: every vehicle of a maker has the same one at 20 and at 50 ms.
const Message& find_target(const std::vector<Message>& messages, int64_t period_us) {
  return *std::find_if(messages.begin(), messages.end(),
                       [&](const Message& m) { return m.period_us == period_us; });
}

std::vector<CanFrame> frames_of(const std::vector<Transmission>& drive) {
  std::vector<CanFrame> out(drive.size());
  for (std::size_t row = 0; row < drive.size(); ++row) {
    out[row].time = static_cast<double>(drive[row].ready_us) / 1e6;
    out[row].id = drive[row].id;
    out[row].length = static_cast<uint8_t>(drive[row].length);
    std::copy(drive[row].payload.begin(), drive[row].payload.end(), out[row].payload.begin());
  }
  return out;
}

Transmission forged(const CanFrame& frame, int64_t ready_us) {
  Transmission out{ready_us, frame.id, frame.length, {}, true, false};
  std::copy_n(frame.payload.begin(), out.payload.size(), out.payload.begin());
  return out;
}

}  // namespace

void add_attack(const std::string& attack, const std::vector<Message>& messages,
                arrays::Random random, int64_t duration_us, std::vector<Transmission>& drive) {
  const SynthAttack& kind = synth_attack(attack);
  const Message& target = find_target(messages, kind.period_us);
  const std::vector<CanFrame> frames = frames_of(drive);
  const Recording recording(frames);
  const auto rows = std::find_if(recording.ids().begin(), recording.ids().end(),
                                 [&](const IdRows& id) { return id.id == target.id; });
  const CanInjectOptions options;
  for (const auto& [begin, end] : make_intervals(random, duration_us, kind.share)) {
    const AttackPlan plan = kind.plan({recording, options, begin, end, &*rows, &target}, random);
    for (const PlannedFrame& one : plan.added) drive.push_back(forged(one.frame, one.ready_us));
    for (const auto& [row, frame] : plan.changed) drive[row] = forged(frame, drive[row].ready_us);
    for (const std::size_t row : plan.removed) drive[row].suppressed = true;
  }
}

}  // namespace kdgat::data
