#include "engine/data/can/synthetic/synth_attacks.h"

#include <algorithm>

#include "kdgat/error.h"

namespace kdgat::data {
namespace {

struct Interval {
  int64_t begin_us, end_us;
  bool holds(int64_t time) const { return begin_us <= time && time < end_us; }
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

/// Every signal at a value the driver did not choose; counter and checksum stay plausible.
Payload forge(const Message& message, Payload payload, uint8_t value) {
  for (const Signal& signal : message.signals) {
    const auto at = static_cast<std::size_t>(signal.at);
    std::fill_n(payload.begin() + static_cast<std::ptrdiff_t>(at), signal.bytes, value);
  }
  set_checksum(message, payload);
  return payload;
}

void flood(const Interval& interval, std::vector<Transmission>& drive) {
  for (int64_t t = interval.begin_us; t < interval.end_us; t += 1000) {
    drive.push_back({t, 0x000, 8, {}, true, false});
  }
}

void fuzz(const Interval& interval, arrays::Random& random, std::vector<Transmission>& drive) {
  int64_t t = interval.begin_us;
  while (t < interval.end_us) {
    Transmission frame{t, static_cast<uint32_t>(random.below(0x800)), 8, {}, true, false};
    for (uint8_t& byte : frame.payload) byte = static_cast<uint8_t>(random.next() >> 56);
    drive.push_back(frame);
    t += 1000 + static_cast<int64_t>(random.below(2001));
  }
}

void spoof(const Interval& interval, const Message& target, arrays::Random& random,
           std::vector<Transmission>& drive) {
  const Payload forged = forge(target, {}, static_cast<uint8_t>(0xF0 + random.below(16)));
  for (int64_t t = interval.begin_us; t < interval.end_us; t += 5000) {
    drive.push_back({t, target.id, target.length, forged, true, false});
  }
}

void replay(const Interval& interval, const std::vector<Transmission>& recorded,
            std::vector<Transmission>& drive) {
  const int64_t back = (interval.end_us - interval.begin_us) * 2;
  for (const Transmission& t : recorded) {
    if (!interval.holds(t.ready_us + back)) continue;
    drive.push_back(t);
    drive.back().ready_us += back;
    drive.back().attack = true;
  }
}

void suspend(const Interval& interval, const Message& target, std::vector<Transmission>& drive) {
  for (Transmission& t : drive) {
    if (t.id == target.id && interval.holds(t.ready_us)) t.suppressed = true;
  }
}

void masquerade(const Interval& interval, const Message& target, arrays::Random& random,
                std::vector<Transmission>& drive) {
  const auto value = static_cast<uint8_t>(random.below(256));
  for (Transmission& t : drive) {
    if (t.id != target.id || !interval.holds(t.ready_us)) continue;
    t.payload = forge(target, t.payload, value);
    t.attack = true;
  }
}

}  // namespace

void add_attack(const std::string& attack, const std::vector<Message>& messages,
                arrays::Random random, int64_t duration_us, std::vector<Transmission>& drive) {
  // Thousandths of the drive: the more frames an attack adds, the shorter it is, so that the share
  // of windows is about the same.
  struct Share {
    const char* name;
    int64_t share;
  };
  constexpr Share kShares[] = {{"dos", 40},    {"fuzzing", 60},     {"spoofing", 90},
                               {"replay", 80}, {"suspension", 120}, {"masquerade", 120}};
  const auto known = std::find_if(std::begin(kShares), std::end(kShares),
                                  [&](const Share& s) { return attack == s.name; });
  if (known == std::end(kShares)) {
    throw Error(ExitCode::kUsage, "unknown attack " + attack,
                "known: dos, fuzzing, spoofing, replay, suspension, masquerade");
  }
  const Message& target = find_target(messages, attack == "spoofing" ? 50'000 : 20'000);
  const std::vector<Transmission> recorded =
      attack == "replay" ? drive : std::vector<Transmission>{};
  for (const Interval& interval : make_intervals(random, duration_us, known->share)) {
    if (attack == "dos") flood(interval, drive);
    if (attack == "fuzzing") fuzz(interval, random, drive);
    if (attack == "spoofing") spoof(interval, target, random, drive);
    if (attack == "replay") replay(interval, recorded, drive);
    if (attack == "suspension") suspend(interval, target, drive);
    if (attack == "masquerade") masquerade(interval, target, random, drive);
  }
}

}  // namespace kdgat::data
