#include "engine/data/can/windows/payload_laws.h"

#include <algorithm>
#include <bit>
#include <map>

#include "engine/portable/laws.h"

namespace kdgat::data {
namespace {

using arrays::BitSpace;
using arrays::BitVector;

// The words of a vector of the bits of a payload.
constexpr std::size_t kSlowBits = 0, kFastBits = 1;
constexpr int kWord = 64;
constexpr int64_t kFewPairs = 100;  // of a part of the drives: fewer show nothing
constexpr int64_t kSlowMoves = 8;   // a bit that moves in one frame of more is slow
constexpr int64_t kLost = 200;      // one frame of so many may be lost, or be sent again

/// Vectors of slow bits alone, and the others, each with a highest bit of its own.
struct Split {
  std::vector<BitVector> slow, others;

  explicit Split(const std::vector<BitVector>& some) {
    std::map<int, BitVector> by_highest;
    for (BitVector one : some) {
      while (one.highest() >= kWord) {
        const auto [at, is_new] = by_highest.try_emplace(one.highest(), one);
        if (is_new) break;
        one ^= at->second;
      }
      if (!one.empty() && one.highest() < kWord) slow.push_back(one);
    }
    for (const auto& [bit, one] : by_highest) others.push_back(one);
  }
};

}  // namespace

LawLearner::LawLearner(const VehicleProfile& profile) {
  for (const IdProfile& one : profile.ids) {
    const bool has_one_length = one.lengths.count() == 1;
    const std::size_t bytes = one.bytes.size();
    if (!has_one_length || bytes < 1 || bytes > KDGAT_LAW_BYTES || one.frames < 2 * kFewPairs) {
      continue;
    }
    Id& id = ids_[one.key()];
    id.bytes = static_cast<unsigned>(bytes);
    for (int width = 8; width >= 2; --width) {
      for (int shift = 0; shift < static_cast<int>(8 * bytes); ++shift) {
        if (shift % 8 + width <= 8) id.fields.push_back({shift, width});
      }
    }
  }
}

void LawLearner::begin_drive(std::size_t n) {
  part_ = n % kParts;
  for (auto& [key, id] : ids_) {
    id.last.reset();
    id.miscounted = id.unchecked = 0;
  }
}

void LawLearner::add(const CanFrame& frame) {
  const auto found = ids_.find(frame.key());
  if (found == ids_.end()) return;
  Id& id = found->second;
  if (frame.label == 1 || frame.length != id.bytes) {
    id.last.reset();  // a forged frame may stand in the place of a true one
    return;
  }
  const uint64_t now = kdgat_law_word(frame.payload.data(), id.bytes);
  if (pass_ == 0) count(id, now);
  if (pass_ == 1) learn(id, now);
  if (pass_ == 2) try_laws(id, now);
  id.last = now;
}

void LawLearner::count(Id& id, uint64_t now) const {
  constexpr int64_t kFirst = 3;
  if (!id.payload) id.payload = now;
  if (!id.last) return;
  ++id.pairs;
  ++id.parts[part_].pairs;
  for (uint64_t moved = now ^ *id.last; moved != 0; moved &= moved - 1) {
    ++id.moves[static_cast<std::size_t>(std::countr_zero(moved))];
  }
  for (Field& field : id.fields) {
    const uint64_t mask = (uint64_t{1} << field.width) - 1;
    field.others += (((now >> field.shift) - (*id.last >> field.shift)) & mask) == 1 ? 0 : 1;
  }
  std::erase_if(id.fields,
                [&](const Field& field) { return field.others > kFirst + id.pairs / kLost; });
}

void LawLearner::learn(Id& id, uint64_t now) const {
  constexpr std::size_t kMostValues = 512;
  const uint64_t moved = now ^ *id.payload;
  if (id.values.size() < kMostValues) id.values.insert(moved);
  id.parts[part_].seen.add({{moved & ~id.fast, moved & id.fast, 0}});
}

/// As the windows do it: one break says nothing, two within four frames do.
void LawLearner::try_laws(Id& id, uint64_t now) const {
  Part& part = id.parts[part_];
  if (!part.of_others || !id.last) return;
  const auto note = [](bool breaks, unsigned& last, bool& is_broken) {
    constexpr unsigned kLastThree = 7;
    is_broken = is_broken || (breaks && (last & kLastThree) != 0);
    last = last << 1 | (breaks ? 1U : 0U);
  };
  const kdgat_lawful view = part.of_others->view(0);
  note(kdgat_counts(&view, now, *id.last) == 0, id.miscounted, part.breaks_counters);
  note(kdgat_breaks_check(part.of_others->sums.data(), &view, now, *id.last) != 0, id.unchecked,
       part.breaks_checks);
}

PayloadLaws LawLearner::Id::laws_of(const BitSpace& space) const {
  const uint64_t all = bytes == KDGAT_LAW_BYTES ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
  PayloadLaws out;
  out.bytes = static_cast<uint8_t>(bytes);
  out.payload = *payload;
  out.slow = all & ~fast;
  for (const Field& field : fields) {
    const uint64_t bits = ((uint64_t{1} << field.width) - 1) << field.shift;
    if ((out.counters & bits) != 0) continue;
    out.counters |= bits;
    out.counter_ends |= uint64_t{1} << field.shift;
    out.counter_tops |= uint64_t{1} << (field.shift + field.width - 1);
  }
  const Split split(space.orthogonal({{all & ~fast, fast, 0}}));
  for (const BitVector& one : split.slow) {
    const uint64_t bits = one.words[kSlowBits];
    if (std::has_single_bit(bits)) {
      out.still |= bits;
    } else {
      out.sums.push_back(bits);
    }
  }
  out.slow_sums = static_cast<uint32_t>(out.sums.size());
  for (const BitVector& one : split.others) {
    out.sums.push_back(one.words[kSlowBits] | one.words[kFastBits]);
  }
  return out;
}

void LawLearner::end_pass() {
  for (auto& [key, id] : ids_) {
    if (pass_ == 0) {
      for (std::size_t bit = 0; bit < id.moves.size(); ++bit) {
        if (id.moves[bit] * kSlowMoves >= std::max<int64_t>(1, id.pairs)) {
          id.fast |= uint64_t{1} << bit;
        }
      }
    }
    if (pass_ != 1) continue;
    for (std::size_t part = 0; part < kParts; ++part) {
      BitSpace others;
      int64_t pairs = 0;
      for (std::size_t other = 0; other < kParts; ++other) {
        if (other == part) continue;
        others.add(id.parts[other].seen);
        pairs += id.parts[other].pairs;
      }
      if (pairs >= kFewPairs) id.parts[part].of_others = id.laws_of(others);
    }
  }
  ++pass_;
}

void LawLearner::finish(VehicleProfile& profile) const {
  // As many payloads more than it takes to fit a sum: by chance it fits one in a million.
  constexpr std::size_t kMorePayloads = 20;
  for (IdProfile& one : profile.ids) {
    const auto found = ids_.find(one.key());
    if (found == ids_.end()) continue;
    const Id& id = found->second;
    const auto tried = std::count_if(id.parts.begin(), id.parts.end(), [](const Part& part) {
      return part.of_others && part.pairs >= kFewPairs;
    });
    if (tried < 2) continue;
    BitSpace all;
    for (const Part& part : id.parts) all.add(part.seen);
    PayloadLaws laws = id.laws_of(all);
    const auto any = [&](bool Part::*breaks) {
      return std::any_of(id.parts.begin(), id.parts.end(),
                         [&](const Part& part) { return part.*breaks; });
    };
    if (any(&Part::breaks_counters)) laws.counters = laws.counter_ends = laws.counter_tops = 0;
    if (any(&Part::breaks_checks) || id.values.size() < all.size() + 1 + kMorePayloads) {
      laws.sums.clear();
      laws.slow_sums = 0;
    }
    if (laws.counters != 0 || laws.has_checks()) one.laws = std::move(laws);
  }
}

}  // namespace kdgat::data
