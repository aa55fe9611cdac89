#include "engine/data/can/synthetic/synth_traffic.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace kdgat::data {
namespace {

/// How many messages of a period a maker knows, and how many of them a vehicle has: the first
/// `shared` in every vehicle, and about `chosen` of the rest. About 330 frames/s in all.
struct Tier {
  int64_t period_ms;  ///< 0 = events
  int known, shared, chosen;
};
constexpr Tier kTiers[] = {{10, 1, 1, 0},   {20, 1, 1, 0},   {50, 5, 2, 1},    {100, 9, 3, 3},
                           {200, 11, 3, 4}, {500, 11, 3, 4}, {1000, 11, 3, 4}, {0, 9, 1, 3}};
constexpr uint32_t kFirstId = 0x0A0;
constexpr uint32_t kIdSpacing = 32;

uint64_t stream(uint64_t seed, uint64_t a, uint64_t b) {
  return arrays::Random(arrays::Random(seed, a).next(), b).next();
}

int64_t between(arrays::Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.below(static_cast<uint64_t>(high - low + 1)));
}

Signal make_signal(arrays::Random& random, int at, int room, int64_t period_us) {
  Signal s;
  s.at = at;
  s.bytes = room >= 2 && random.below(2) == 0 ? 2 : 1;
  const int64_t top = s.bytes == 2 ? 0xFFFF : 0xFF;
  s.low = between(random, 0, top / 4);
  s.high = between(random, top / 2, top - top / 8);
  switch (random.below(4)) {
    case 0:
      s.kind = Signal::Kind::kConstant;
      break;
    case 1:
      s.kind = Signal::Kind::kWalk;
      s.step = between(random, 1, std::max<int64_t>(1, (s.high - s.low) / 16));
      break;
    case 2:
      // A turn takes 4 to 16 s whatever the period, so that every drive sees the whole of it.
      s.kind = Signal::Kind::kWave;
      s.step =
          65536 * (period_us > 0 ? period_us : 100'000) / between(random, 4'000'000, 16'000'000);
      break;
    default:
      s.kind = Signal::Kind::kFlag;
      s.bytes = 1;
      s.low = between(random, 0, 3);
      s.high = s.low | (1 << between(random, 2, 7));
      s.step = between(random, 10, 80);
  }
  return s;
}

Message make_message(uint64_t seed, uint32_t slot, int64_t period_ms) {
  arrays::Random random(stream(seed, 1, slot));
  Message m;
  m.id = kFirstId + slot * kIdSpacing + static_cast<uint32_t>(random.below(kIdSpacing));
  m.period_us = period_ms * 1000;
  m.length = random.below(3) != 0 ? 8 : static_cast<int>(between(random, 2, 7));
  int end = m.length;
  if (m.length >= 4 && random.below(2) == 0) {
    m.checksum_at = --end;
    m.checksum_is_sum = random.below(2) == 0;
  }
  if (end >= 3 && random.below(2) == 0) m.counter_at = --end;
  for (int at = 0; at < end; at += m.signals.back().bytes) {
    m.signals.push_back(make_signal(random, at, end - at, m.period_us));
  }
  return m;
}

/// A signal while the vehicle drives.
struct SignalState {
  int64_t value = 0;
  int64_t phase = 0;
};

void advance(const Signal& signal, arrays::Random& random, SignalState& state) {
  switch (signal.kind) {
    case Signal::Kind::kConstant:
      state.value = signal.low;
      break;
    case Signal::Kind::kWalk: {
      // Drawn back to the middle, so that drives differ no more than parts of a drive do.
      const int64_t home = ((signal.low + signal.high) / 2 - state.value) / 8;
      state.value = std::clamp(state.value + home + between(random, -signal.step, signal.step),
                               signal.low, signal.high);
      break;
    }
    case Signal::Kind::kWave: {
      // Two parabolas a turn: a sine without floating point.
      state.phase = (state.phase + signal.step) & 0xFFFF;
      const int64_t x = state.phase & 0x7FFF;
      const int64_t arc = (x * (0x8000 - x)) >> 13;  // 0..0x8000
      const int64_t half = (signal.high - signal.low) / 2;
      const int64_t swing = (half * arc) >> 15;
      state.value = signal.low + half + (state.phase < 0x8000 ? swing : -swing);
      break;
    }
    case Signal::Kind::kFlag:
      if (random.below(static_cast<uint64_t>(signal.step)) == 0) {
        state.value = state.value == signal.low ? signal.high : signal.low;
      }
      break;
  }
}

/// When a message is asked for: its period with jitter, or single events, each sent three times.
std::vector<int64_t> ready_times(const Message& message, arrays::Random& random,
                                 int64_t duration_us, int64_t ageing) {
  std::vector<int64_t> times;
  const auto percent_at = [&](int64_t t) { return 100 + ageing * t / duration_us; };
  if (message.period_us > 0) {
    // Each node's clock wanders, so the order of messages changes during a drive.
    const int64_t jitter = std::min<int64_t>(message.period_us / 50, 4000);
    for (int64_t t = between(random, jitter, message.period_us); t < duration_us;) {
      times.push_back(t);
      const int64_t aged = jitter * percent_at(t) / 100;
      t += message.period_us + between(random, -aged, aged);
    }
    return times;
  }
  for (int64_t t = between(random, 100'000, 6'000'000); t < duration_us;
       t += between(random, 500'000, 6'000'000) * 100 / percent_at(t)) {
    for (int64_t repeat = 0; repeat < 3; ++repeat) times.push_back(t + repeat * 20'000);
  }
  return times;
}

void add_message(const Message& message, arrays::Random random, int64_t duration_us, int64_t ageing,
                 std::vector<Transmission>& out) {
  std::vector<SignalState> states(message.signals.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Signal& signal = message.signals[i];
    states[i].value =
        signal.kind == Signal::Kind::kFlag ? signal.low : between(random, signal.low, signal.high);
    states[i].phase = between(random, 0, 0xFFFF);
  }
  uint64_t counter = random.below(16);
  for (const int64_t time : ready_times(message, random, duration_us, ageing)) {
    Transmission t;
    t.ready_us = time;
    t.id = message.id;
    t.length = message.length;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const Signal& signal = message.signals[i];
      advance(signal, random, states[i]);
      const auto at = static_cast<std::size_t>(signal.at);
      if (signal.bytes == 2) {
        t.payload[at] = static_cast<uint8_t>(states[i].value >> 8);
        t.payload[at + 1] = static_cast<uint8_t>(states[i].value);
      } else {
        t.payload[at] = static_cast<uint8_t>(states[i].value);
      }
    }
    if (message.counter_at >= 0) {
      t.payload[static_cast<std::size_t>(message.counter_at)] =
          static_cast<uint8_t>(counter++ & 0xF);
    }
    set_checksum(message, t.payload);
    out.push_back(t);
  }
}

}  // namespace

void set_checksum(const Message& message, Payload& payload) {
  if (message.checksum_at < 0) return;
  const auto at = static_cast<std::size_t>(message.checksum_at);
  unsigned sum = message.id & 0xFF;
  for (std::size_t i = 0; i < static_cast<std::size_t>(message.length); ++i) {
    if (i == at) continue;
    sum = message.checksum_is_sum ? sum + payload[i] : sum ^ payload[i];
  }
  payload[at] = static_cast<uint8_t>(sum);
}

std::vector<Message> make_vehicle(uint64_t seed, int64_t vehicle) {
  arrays::Random random(stream(seed, 2, static_cast<uint64_t>(vehicle)));
  std::vector<Message> messages;
  uint32_t slot = 0;
  for (const Tier& tier : kTiers) {
    std::vector<uint32_t> optional;
    for (int i = 0; i < tier.known; ++i, ++slot) {
      if (i < tier.shared) {
        messages.push_back(make_message(seed, slot, tier.period_ms));
      } else {
        optional.push_back(slot);
      }
    }
    random.shuffle(optional);
    const uint64_t spread = tier.chosen >= 3 ? random.below(3) : 1;
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(tier.chosen) + spread; ++i) {
      messages.push_back(make_message(seed, optional[i], tier.period_ms));
    }
  }
  return messages;
}

std::vector<Transmission> make_drive(const std::vector<Message>& messages, uint64_t drive,
                                     int64_t duration_us, int64_t ageing) {
  std::vector<Transmission> out;
  for (const Message& message : messages) {
    add_message(message, arrays::Random(drive, message.id), duration_us, ageing, out);
  }
  std::sort(out.begin(), out.end(), [](const Transmission& a, const Transmission& b) {
    return std::tie(a.ready_us, a.id) < std::tie(b.ready_us, b.id);
  });
  return out;
}

std::vector<CanFrame> transmit(std::vector<Transmission> wanted, int64_t start_us) {
  std::stable_sort(wanted.begin(), wanted.end(), [](const Transmission& a, const Transmission& b) {
    return a.ready_us < b.ready_us;
  });
  using Waiting = std::pair<uint32_t, std::size_t>;  // id, then order of asking
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
  std::vector<CanFrame> frames;
  frames.reserve(wanted.size());
  std::size_t next = 0;
  int64_t free_us = 0;
  bool missed = false;
  while (next < wanted.size() || !waiting.empty()) {
    if (waiting.empty()) free_us = std::max(free_us, wanted[next].ready_us);
    while (next < wanted.size() && wanted[next].ready_us <= free_us) {
      waiting.emplace(wanted[next].id, next);
      ++next;
    }
    const Transmission& t = wanted[waiting.top().second];
    waiting.pop();
    if (t.suppressed) {
      missed = true;
      continue;
    }
    free_us += 2 * (47 + int64_t{10} * t.length);  // 2 us a bit; about one stuff bit in four
    CanFrame frame;
    frame.time = static_cast<double>(start_us + free_us) / 1e6;
    frame.id = t.id;
    frame.length = static_cast<uint8_t>(t.length);
    frame.label = t.attack || missed ? 1 : 0;
    std::copy_n(t.payload.begin(), t.length, frame.payload.begin());
    missed = false;
    frames.push_back(frame);
    free_us += 6;  // three bits between frames
  }
  return frames;
}

}  // namespace kdgat::data
