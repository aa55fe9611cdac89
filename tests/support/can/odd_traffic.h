// Frames as no vehicle sends them, made of those that one does: for what has to stand any frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/arrays/random.h"
#include "engine/data/can/frames/protocol_ids.h"
#include "support/can/can_traffic.h"

namespace kdgat::test {

/// Traffic of a vehicle as no vehicle has it: faster and slower by turns, with ids that fall
/// silent, clocks that stand still, run back, jump or are none, ids of testers, of J1939 and of
/// nobody, and payloads of 0 to 64 bytes that move.
class OddTraffic {
 public:
  OddTraffic(const Frames& usual, uint64_t seed) : usual_(usual), random_(seed, 7) {}

  Frames frames(int count) {
    Frames out;
    for (int i = 0; i < count; ++i) out.push_back(next());
    return out;
  }

 private:
  data::CanFrame next() {
    constexpr std::array<double, 8> kSpeeds = {0.3, 1, 1, 1, 1.7, 2.1, 2.4, 8};
    if (--left_ < 0) {
      left_ = static_cast<int>(random_.below(900));
      speed_ = kSpeeds[random_.below(kSpeeds.size())];
      jitter_ = random_.below(3) == 0 ? 0.01 * random_.uniform() : 0;
      muted_ = random_.below(8);
      testers_ = random_.below(3) == 0 ? 60 : 2;
      back_ = random_.below(3) == 0 ? 0.08 + 0.06 * random_.uniform() : 0;
    }
    data::CanFrame out = usual();
    if (random_.below(200) < testers_) out.id = tester();
    if (random_.below(50) == 0) out.id = other(out.id);
    out.id &= 0x1FFFFFFF;
    out.extended = out.id > 0x7FF;
    if (random_.below(300) == 0) out.channel = static_cast<uint8_t>(random_.below(8));
    if (random_.below(40) == 0) out.length = static_cast<uint8_t>(random_.below(65));
    for (std::size_t b = 0; b < out.length; ++b) {
      if (random_.below(60) == 0) out.payload[b] = static_cast<uint8_t>(random_.below(256));
    }
    for (std::size_t b = out.length; b < 64; ++b) out.payload[b] = 0;
    if (kdgat_is_claim(out.id) != 0) claim(out);
    out.time = time_of(random_.below(4000));
    return out;
  }

  data::CanFrame usual() {
    while (true) {
      const std::size_t at = at_++ % usual_.size();
      const double step = at == 0 ? 0 : usual_[at].time - usual_[at - 1].time;
      time_ += speed_ * step;
      if (muted_ < 5 && usual_[at].id % 5 == muted_ && random_.below(900) != 0) continue;
      return usual_[at];
    }
  }

  uint32_t tester() {
    const auto byte = static_cast<uint32_t>(random_.below(256));
    const std::array<uint32_t, 6> ids = {0x7DF,      0x7E0 + byte % 16,       0x18DB33F1,
                                         0x18DB33F2, 0x18DA00F1U | byte << 8, 0x18DAF100U | byte};
    return ids[random_.below(ids.size())];
  }

  uint32_t other(uint32_t id) {
    const auto byte = static_cast<uint32_t>(random_.below(256)), unit = byte % 8;
    switch (random_.below(9)) {
      case 0:
        return static_cast<uint32_t>(random_.below(2048));
      case 1:
        return static_cast<uint32_t>(random_.below(uint64_t{1} << 29));
      case 2:
        return id ^ 1U << random_.below(29);
      case 3:
        return 0x18EEFF00U | unit;
      case 4:
        return 0x18EA00FEU | byte << 8;
      case 5:
        return 0x18EF0000U | byte << 8 | unit;
      case 6:
        return 0x18FEF100U | unit;
      case 7:
        return (id & ~0xFFU) | unit;
      default:
        return (id & ~0xFF00U) | byte << 8;
    }
  }

  /// Of a unit that the profile has, or of another.
  void claim(data::CanFrame& frame) {
    if (random_.below(4) == 0) return;
    frame.payload.fill(0);
    frame.payload[0] = random_.below(2) == 0 ? 3 : 11;
    frame.payload[7] = 0x80;
    frame.length = static_cast<uint8_t>(random_.below(4) == 0 ? 7 : 8);
    if (frame.length < 8) frame.payload[7] = 0;
  }

  double time_of(uint64_t kind) {
    if (kind == 0) time_ += 3 * random_.uniform();
    if (kind == 1) time_ -= 1;
    if (kind == 2) time_ -= 3 * random_.uniform();
    if (kind == 3 && random_.below(9) == 0) time_ += 1e12 * (random_.uniform() - 0.5);
    if (kind < 40 && kind > 34) return std::numeric_limits<double>::quiet_NaN();
    if (kind < 1000) behind_ = static_cast<int>(random_.below(8));
    if (behind_ > 0) {
      --behind_;
      return time_ - back_;
    }
    return time_ + jitter_ * random_.uniform();
  }

  const Frames& usual_;
  arrays::Random random_;
  std::size_t at_ = 0;
  double time_ = 1000, speed_ = 1, jitter_ = 0, back_ = 0;
  uint64_t muted_ = 9, testers_ = 2;
  int left_ = 0, behind_ = 0;
};

inline Frames odd_frames(const Frames& usual, int count, uint64_t seed) {
  return OddTraffic(usual, seed).frames(count);
}

}  // namespace kdgat::test
