#include "engine/data/can/synthetic/payload_fields.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "engine/arrays/bit_space.h"
#include "engine/portable/laws.h"

namespace kdgat::data {
namespace {

constexpr unsigned kMostBytes = KDGAT_LAW_BYTES;
constexpr int64_t kSlowMoves = 8;  // a bit that moves in one frame of more is slow

bool is_counter(std::span<const uint64_t> payloads, int shift, int width) {
  constexpr std::size_t kMostLost = 20;  // one frame of so many may be lost
  const uint64_t mask = (uint64_t{1} << width) - 1;
  std::size_t others = 0;
  for (std::size_t i = 1; i < payloads.size(); ++i) {
    const uint64_t step = (payloads[i] >> shift) - (payloads[i - 1] >> shift);
    others += (step & mask) == 1 ? 0 : 1;
  }
  return others * kMostLost <= payloads.size();
}

/// The widest ones.
uint64_t counters_of(std::span<const uint64_t> payloads, int bytes) {
  uint64_t out = 0;
  for (int width = 8; width >= 2; --width) {
    for (int byte = 0; byte < bytes; ++byte) {
      for (int low = 0; low + width <= 8; ++low) {
        const int shift = 8 * byte + low;
        const uint64_t field = ((uint64_t{1} << width) - 1) << shift;
        if ((out & field) == 0 && is_counter(payloads, shift, width)) out |= field;
      }
    }
  }
  return out;
}

/// Bits that move often: sums of others alone hold by chance.
uint64_t fast_bits(std::span<const uint64_t> payloads) {
  std::array<std::size_t, 64> moves{};
  for (std::size_t i = 1; i < payloads.size(); ++i) {
    for (uint64_t left = payloads[i] ^ payloads[i - 1]; left != 0; left &= left - 1) {
      ++moves[static_cast<std::size_t>(std::countr_zero(left))];
    }
  }
  uint64_t out = 0;
  for (std::size_t bit = 0; bit < moves.size(); ++bit) {
    if (moves[bit] * kSlowMoves >= payloads.size()) out |= uint64_t{1} << bit;
  }
  return out;
}

uint64_t checks_of(std::span<const uint64_t> payloads, uint64_t counters) {
  const uint64_t fast = fast_bits(payloads);
  arrays::BitSpace seen;
  for (const uint64_t payload : payloads) seen.add({{0, 0, (payload ^ payloads.front()) & fast}});
  uint64_t out = 0;
  for (const arrays::BitVector& sum : seen.orthogonal({{0, 0, fast}})) {
    const uint64_t bits = sum.words[2];
    if (std::popcount(bits) >= 2 && (bits & ~counters) != 0) out |= bits;
  }
  return out;
}

}  // namespace

uint64_t payload_bits(const CanFrame& frame) {
  return kdgat_law_word(frame.payload.data(), std::min<unsigned>(frame.length, kMostBytes));
}

void set_payload_bits(CanFrame& frame, uint64_t which, uint64_t bits) {
  const uint64_t all = (payload_bits(frame) & ~which) | (bits & which);
  for (std::size_t i = 0; i < std::min<std::size_t>(frame.length, kMostBytes); ++i) {
    frame.payload[i] = static_cast<uint8_t>(all >> (8 * i));
  }
}

PayloadFields payload_fields(const Recording& recording, const IdRows& id) {
  constexpr std::size_t kFewest = 50, kMost = 4000;
  const std::span<const CanFrame> frames = recording.frames();
  const uint8_t length = frames[id.rows.front()].length;
  std::vector<uint64_t> payloads;
  for (const std::size_t row : id.rows) {
    if (frames[row].length != length || length > kMostBytes) return {};
    payloads.push_back(payload_bits(frames[row]));
    if (payloads.size() == kMost) break;
  }
  if (payloads.size() < kFewest) return {};
  PayloadFields out;
  out.counters = counters_of(payloads, length);
  out.checks = checks_of(payloads, out.counters);
  return out;
}

}  // namespace kdgat::data
