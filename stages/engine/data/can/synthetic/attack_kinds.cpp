#include "engine/data/can/synthetic/attack_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/data/can/synthetic/attack_names.h"
#include "engine/data/can/synthetic/payload_fields.h"
#include "engine/data/can/synthetic/synth_traffic.h"
#include "kdgat/rows.h"

namespace kdgat::data {
namespace {

constexpr uint8_t kClassic = 8;  // bytes of a frame that is not FD

// Frames a second, one of them drawn.
constexpr double kDosRates[] = {500, 1000, 2000};
constexpr double kFuzzingRates[] = {100, 300, 1000, 2000};
constexpr double kKnownRates[] = {30, 100, 300, 1000};

template <std::size_t n>
constexpr double mean(const double (&rates)[n]) {
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum / n;
}

/// One of the values, each as likely.
template <class T, std::size_t n>
T pick(const T (&values)[n], arrays::Random& random) {
  return values[random.below(n)];
}

bool happens(arrays::Random& random, uint64_t times, uint64_t of) {
  return random.below(of) < times;
}

/// `value` times a number from 0.8 to 1.2.
int64_t about(int64_t value, arrays::Random& random) {
  return value * (800 + static_cast<int64_t>(random.below(401))) / 1000;
}

uint8_t random_byte(arrays::Random& random) { return static_cast<uint8_t>(random.next() >> 56); }

void fill(CanFrame& frame, arrays::Random& random) {
  std::generate_n(frame.payload.begin(), frame.length, [&] { return random_byte(random); });
}

/// A frame of this id as an attacker sends it: no remote frame, and FD where it has to be.
CanFrame frame_of(uint32_t id, bool extended, uint8_t length) {
  CanFrame frame;
  frame.fd = length > kClassic;
  frame.id = id;
  frame.extended = extended;
  frame.length = length;
  return frame;
}

/// What one attack writes into payloads: the same places in every frame.
class Forgery {
 public:
  /// `among`: bits of the payload, each byte forged has one of them.
  Forgery(const AttackScene& scene, arrays::Random& random, uint64_t among = ~uint64_t{0}) {
    const auto length = static_cast<std::size_t>(scene.target->length);
    for (const int64_t at : scene.options.bytes) at_.push_back(static_cast<std::size_t>(at));
    if (at_.empty()) {
      for (std::size_t i = 0; i < length; ++i) {
        if (i >= 8 || (among >> 8 * i & 0xFF) != 0) at_.push_back(i);
      }
      random.shuffle(at_);
      at_.resize(1 + random.below(std::min<std::size_t>(3, at_.size())));
    }
    random_ =
        scene.options.values == "any" ? happens(random, 1, 3) : scene.options.values == "random";
    for (uint8_t& value : values_) value = random_byte(random);
  }

  CanFrame of(CanFrame frame, arrays::Random& random) const {
    frame.time = 0;
    frame.label = -1;
    for (const std::size_t i : at_) frame.payload[i] = random_ ? random_byte(random) : values_[i];
    return frame;
  }

 private:
  std::vector<std::size_t> at_;
  bool random_ = false;
  std::array<uint8_t, 64> values_{};
};

/// Microseconds between two frames at the rate asked for, or at one of these.
template <std::size_t n>
int64_t step_of(const AttackScene& scene, const double (&rates)[n], arrays::Random& random) {
  const double drawn = pick(rates, random);
  const double rate = scene.options.rate > 0 ? scene.options.rate : drawn;
  return std::max<int64_t>(1, std::llround(1e6 / rate));
}

std::span<const std::size_t> true_rows(const AttackScene& scene) {
  return scene.recording.rows_between(*scene.target, scene.begin_us, scene.end_us);
}

AttackPlan flood(const AttackScene& scene, int64_t step, const CanFrame& frame) {
  AttackPlan plan;
  for (int64_t t = scene.begin_us; t < scene.end_us; t += step) plan.added.push_back({t, frame});
  return plan;
}

AttackPlan plan_dos(const AttackScene& scene, arrays::Random& random) {
  const int64_t step = step_of(scene, kDosRates, random);
  CanFrame frame = frame_of(0, false, 8);
  if (happens(random, 3, 10)) {
    frame.id = scene.recording.ids().front().id;
    frame.extended = scene.recording.ids().front().extended;
  }
  if (happens(random, 3, 10)) fill(frame, random);
  return flood(scene, step, frame);
}

AttackPlan synth_dos(const AttackScene& scene, arrays::Random&) {
  return flood(scene, 1000, frame_of(0, false, kClassic));
}

/// Random payloads at a rate that varies by half, of whatever frame `next` gives.
template <class Next>
AttackPlan plan_random(const AttackScene& scene, int64_t step, arrays::Random& random, Next next) {
  AttackPlan plan;
  for (int64_t t = scene.begin_us; t < scene.end_us;) {
    CanFrame frame = next();
    fill(frame, random);
    plan.added.push_back({t, frame});
    t += std::max<int64_t>(
        1, step / 2 + static_cast<int64_t>(random.below(static_cast<uint64_t>(step) + 1)));
  }
  return plan;
}

AttackPlan plan_fuzzing(const AttackScene& scene, arrays::Random& random) {
  const std::span<const CanFrame> frames = scene.recording.frames();
  return plan_random(scene, step_of(scene, kFuzzingRates, random), random, [&] {
    const CanFrame& like = frames[random.below(frames.size())];  // as often as in the log
    const auto id = static_cast<uint32_t>(random.below(like.extended ? 1U << 29 : 0x800));
    return frame_of(id, like.extended, std::max(like.length, kClassic));
  });
}

AttackPlan synth_fuzzing(const AttackScene& scene, arrays::Random& random) {
  return plan_random(scene, 2000, random, [&] {
    return frame_of(static_cast<uint32_t>(random.below(0x800)), false, kClassic);
  });
}

AttackPlan plan_fuzzing_known(const AttackScene& scene, arrays::Random& random) {
  const std::span<const IdRows> ids = scene.recording.ids();
  return plan_random(scene, step_of(scene, kKnownRates, random), random, [&] {
    const IdRows& id = ids[random.below(ids.size())];
    const uint8_t own = scene.recording.frames()[id.rows.front()].length;
    return frame_of(id.id, id.extended, happens(random, 8, 10) ? own : kClassic);
  });
}

AttackPlan plan_spoofing(const AttackScene& scene, arrays::Random& random) {
  constexpr int64_t kTenths[] = {13, 20, 40, 100};
  constexpr int64_t kShortestStep = 800;
  const int64_t drawn =
      std::max(kShortestStep, scene.target->period_us * 10 / pick(kTenths, random));
  const int64_t step =
      scene.options.rate > 0 ? std::max<int64_t>(1, std::llround(1e6 / scene.options.rate)) : drawn;
  const Forgery forgery(scene, random);
  const std::span<const std::size_t> rows = true_rows(scene);
  AttackPlan plan;
  std::size_t last = 0;  // the true frame that the forged one imitates
  for (int64_t t = scene.begin_us; t < scene.end_us; t += step) {
    while (last + 1 < rows.size() && scene.recording.clock_us(rows[last + 1]) <= t) ++last;
    const auto jitter = static_cast<int64_t>(random.below(static_cast<uint64_t>(step / 20 + 1)));
    plan.added.push_back({t + jitter, forgery.of(scene.recording.frames()[rows[last]], random)});
  }
  return plan;
}

/// Every signal at a value the driver did not choose; counter and checksum stay plausible.
CanFrame forged_signals(const Message& message, CanFrame frame, uint8_t value) {
  Payload payload{};
  std::copy_n(frame.payload.begin(), payload.size(), payload.begin());
  for (const Signal& signal : message.signals) {
    std::fill_n(payload.begin() + signal.at, signal.bytes, value);
  }
  set_checksum(message, payload);
  std::copy(payload.begin(), payload.end(), frame.payload.begin());
  return frame;
}

AttackPlan synth_spoofing(const AttackScene& scene, arrays::Random& random) {
  const Message& target = *scene.layout;
  const CanFrame empty = frame_of(target.id, false, static_cast<uint8_t>(target.length));
  return flood(scene, 5000,
               forged_signals(target, empty, static_cast<uint8_t>(0xF0 + random.below(16))));
}

AttackPlan plan_fabrication(const AttackScene& scene, arrays::Random& random) {
  const int64_t period = scene.target->period_us;
  const int64_t delays[] = {0, 1000, period / 10, period * 3 / 10, period / 2};
  const int64_t drawn = pick(delays, random);
  const bool asked = scene.options.delay >= 0;
  const int64_t delay = asked ? std::llround(scene.options.delay * 1e6) : drawn;
  const uint64_t tenths = happens(random, 3, 4) ? 10 : 3;  // of the true frames have a forged one
  const Forgery forgery(scene, random);
  AttackPlan plan;
  for (const std::size_t row : true_rows(scene)) {
    if (!happens(random, tenths, 10)) continue;
    const int64_t after = asked ? delay : about(delay, random);
    plan.added.push_back(
        {scene.recording.clock_us(row) + after, forgery.of(scene.recording.frames()[row], random)});
  }
  return plan;
}

AttackPlan plan_targeted(const AttackScene& scene, arrays::Random& random) {
  const Forgery forgery(scene, random);
  const std::span<const std::size_t> rows = true_rows(scene);
  // One to four a second, one at least.
  const int64_t wanted = 1 + static_cast<int64_t>(random.below(4));
  const int64_t frames = std::max<int64_t>(1, wanted * (scene.end_us - scene.begin_us) / 1'000'000);
  const std::size_t step = std::max<std::size_t>(1, rows.size() / static_cast<std::size_t>(frames));
  AttackPlan plan;
  for (std::size_t i = random.below(step); i < rows.size(); i += step) {
    const int64_t after =
        scene.target->period_us * (20 + static_cast<int64_t>(random.below(931))) / 1000;
    plan.added.push_back({scene.recording.clock_us(rows[i]) + after,
                          forgery.of(scene.recording.frames()[rows[i]], random)});
  }
  return plan;
}

/// `keep`: makes of a forged frame, and the true one, what is sent.
template <class Keep>
AttackPlan plan_in_place(const AttackScene& scene, const Forgery& forgery, arrays::Random& random,
                         Keep keep) {
  AttackPlan plan;
  for (const std::size_t row : true_rows(scene)) {
    const CanFrame& frame = scene.recording.frames()[row];
    CanFrame forged = forgery.of(frame, random);
    keep(forged, frame);
    // What happens to be the truth is no attack.
    if (forged.payload != frame.payload) plan.changed.emplace_back(row, forged);
  }
  return plan;
}

AttackPlan plan_masquerade(const AttackScene& scene, arrays::Random& random) {
  return plan_in_place(scene, Forgery(scene, random), random,
                       [](const CanFrame&, const CanFrame&) {});
}

AttackPlan synth_masquerade(const AttackScene& scene, arrays::Random& random) {
  const auto value = static_cast<uint8_t>(random.below(256));
  AttackPlan plan;
  for (const std::size_t row : true_rows(scene)) {
    plan.changed.emplace_back(row,
                              forged_signals(*scene.layout, scene.recording.frames()[row], value));
  }
  return plan;
}

AttackPlan plan_frozen(const AttackScene& scene, arrays::Random& random) {
  const uint64_t counters = payload_fields(scene.recording, *scene.target).counters;
  const uint64_t held = payload_bits(scene.recording.frames()[true_rows(scene).front()]);
  return plan_in_place(
      scene, Forgery(scene, random), random,
      [&](CanFrame& forged, const CanFrame&) { set_payload_bits(forged, counters, held); });
}

AttackPlan plan_unchecked(const AttackScene& scene, arrays::Random& random) {
  const PayloadFields fields = payload_fields(scene.recording, *scene.target);
  return plan_in_place(scene, Forgery(scene, random, fields.checks & ~fields.counters), random,
                       [&](CanFrame& forged, const CanFrame& frame) {
                         set_payload_bits(forged, fields.counters, payload_bits(frame));
                       });
}

bool has_counter(const Recording& recording, const IdRows& id) {
  return payload_fields(recording, id).counters != 0;
}

bool has_checksum(const Recording& recording, const IdRows& id) {
  return payload_fields(recording, id).checks != 0;
}

AttackPlan plan_suspension(const AttackScene& scene, arrays::Random&) {
  const std::span<const std::size_t> rows = true_rows(scene);
  AttackPlan plan;
  plan.removed.assign(rows.begin(), rows.end());
  return plan;
}

/// Of the cut, the ids that are sent again: all, or up to five.
std::vector<const IdRows*> replayed_ids(const AttackScene& scene, arrays::Random& random) {
  std::vector<const IdRows*> all, regular;
  for (const IdRows& id : scene.recording.ids()) {
    all.push_back(&id);
    if (id.regular) regular.push_back(&id);
  }
  if (regular.empty() || happens(random, 3, 10)) return all;
  random.shuffle(regular);
  regular.resize(1 + random.below(std::min<std::size_t>(5, regular.size())));
  return regular;
}

AttackPlan plan_replay(const AttackScene& scene, arrays::Random& random) {
  const int64_t recorded = scene.begin_us - scene.recording.begin_us();
  const int64_t length = std::min(scene.end_us - scene.begin_us, recorded);
  const int64_t from =
      scene.recording.begin_us() +
      static_cast<int64_t>(random.below(static_cast<uint64_t>(recorded - length) + 1));
  AttackPlan plan;
  for (const IdRows* id : replayed_ids(scene, random)) {
    for (const std::size_t row : scene.recording.rows_between(*id, from, from + length)) {
      plan.added.push_back(
          {scene.recording.clock_us(row) - from + scene.begin_us, scene.recording.frames()[row]});
    }
  }
  return plan;
}

/// What was sent twice the attack's length ago.
AttackPlan synth_replay(const AttackScene& scene, arrays::Random&) {
  const int64_t back = 2 * (scene.end_us - scene.begin_us);
  const auto [first, last] =
      scene.recording.rows_between(scene.begin_us - back, scene.end_us - back);
  AttackPlan plan;
  for (std::size_t row = first; row < last; ++row) {
    plan.added.push_back({scene.recording.clock_us(row) + back, scene.recording.frames()[row]});
  }
  return plan;
}

// Shares of made-up traffic make 10 to 20 % of the windows of 100 rows attacks.
constexpr AttackKind kAttackKinds[] = {
    {.name = "dos",
     .help = "one id that wins over the others floods the bus",
     .usual = true,
     .has_rate = true,
     .adds = mean(kDosRates),
     .plan = plan_dos,
     .synth = {1, 40, 20'000, synth_dos}},
    {.name = "fuzzing",
     .help = "random ids and payloads",
     .usual = true,
     .has_rate = true,
     .adds = mean(kFuzzingRates),
     .plan = plan_fuzzing,
     .synth = {2, 60, 20'000, synth_fuzzing}},
    {.name = "fuzzing-known",
     .help = "ids of the log with random payloads",
     .usual = true,
     .has_rate = true,
     .adds = mean(kKnownRates),
     .plan = plan_fuzzing_known},
    {.name = "spoofing",
     .help = "one id, forged, beside its true frames",
     .usual = true,
     .has_target = true,
     .forges = true,
     .has_rate = true,
     .plan = plan_spoofing,
     .synth = {3, 90, 50'000, synth_spoofing}},
    {.name = "fabrication",
     .help = "a forged frame after true ones of one id: at once, or up to half a period later",
     .usual = true,
     .has_target = true,
     .forges = true,
     .plan = plan_fabrication},
    {.name = "targeted",
     .help = "a few more frames of one id, some of their bytes forged",
     .usual = true,
     .has_target = true,
     .forges = true,
     .plan = plan_targeted},
    {.name = "masquerade",
     .help = "the true frames of one id, with forged bytes",
     .usual = true,
     .has_target = true,
     .forges = true,
     .plan = plan_masquerade,
     .synth = {6, 120, 20'000, synth_masquerade}},
    {.name = "suspension",
     .help = "one id falls silent",
     .usual = true,
     .has_target = true,
     .plan = plan_suspension,
     .synth = {5, 120, 20'000, plan_suspension}},
    {.name = "replay",
     .help = "frames recorded earlier are sent again",
     .usual = true,
     .plan = plan_replay,
     .synth = {4, 80, 20'000, synth_replay}},
    {.name = "masquerade-frozen",
     .help = "masquerade of an id that counts, whose counters stand still",
     .has_target = true,
     .forges = true,
     .plan = plan_frozen,
     .suits = has_counter,
     .needs = "a counter"},
    {.name = "masquerade-unchecked",
     .help = "masquerade of an id with a checksum, whose counters go on: the checksum is wrong",
     .has_target = true,
     .forges = true,
     .plan = plan_unchecked,
     .suits = has_checksum,
     .needs = "a checksum"},
};

bool is_synthetic(const AttackKind& kind) { return kind.synth.number > 0; }

}  // namespace

const AttackKind& attack_kind(const std::string& name) {
  return row_named(kAttackKinds, "attack", name);
}

const SynthAttack& synth_attack(const std::string& name) {
  const AttackKind& kind = attack_kind(name);
  if (is_synthetic(kind)) return kind.synth;
  throw Error(ExitCode::kUsage, "made-up traffic has no attack " + name,
              "it has " + in_words(synth_attacks(), "and"));
}

std::vector<std::string> all_attacks() { return row_names(kAttackKinds); }

std::vector<std::string> usual_attacks() {
  return row_names(kAttackKinds, [](const AttackKind& kind) { return kind.usual; });
}

std::vector<std::string> synth_attacks() {
  std::vector<std::string> out = row_names(kAttackKinds, is_synthetic);
  std::sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
    return attack_kind(a).synth.number < attack_kind(b).synth.number;
  });
  return out;
}

std::string rated_attacks() {
  return in_words(row_names(kAttackKinds, [](const AttackKind& kind) { return kind.has_rate; }),
                  "and");
}

std::string attacks_help() { return rows_help(kAttackKinds); }

}  // namespace kdgat::data
