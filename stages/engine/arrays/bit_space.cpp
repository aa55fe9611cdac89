#include "engine/arrays/bit_space.h"

#include <bit>

namespace kdgat::arrays {

int BitVector::highest() const {
  for (std::size_t i = words.size(); i > 0; --i) {
    if (words[i - 1] != 0) return static_cast<int>(i) * 64 - 1 - std::countl_zero(words[i - 1]);
  }
  return -1;
}

BitVector BitSpace::rest(BitVector vector) const {
  for (int bit = vector.highest(); bit >= 0; bit = vector.highest()) {
    const auto row = rows_.find(bit);
    if (row == rows_.end()) break;
    vector ^= row->second;
  }
  return vector;
}

bool BitSpace::add(const BitVector& vector) {
  const BitVector left = rest(vector);
  if (left.empty()) return false;
  rows_.emplace(left.highest(), left);
  return true;
}

void BitSpace::add(const BitSpace& other) {
  for (const auto& [bit, row] : other.rows_) add(row);
}

std::vector<BitVector> BitSpace::orthogonal(const BitVector& among) const {
  std::map<int, BitVector> reduced;  // no row has the highest bit of another one
  for (auto [bit, row] : rows_) {
    for (const auto& [lower, other] : reduced) {
      if (row.test(lower)) row ^= other;
    }
    reduced.emplace(bit, row);
  }
  std::vector<BitVector> out;
  for (int bit = 0; bit < BitVector::kBits; ++bit) {
    if (!among.test(bit) || reduced.contains(bit)) continue;
    BitVector& one = out.emplace_back();
    one.set(bit);
    for (const auto& [highest, row] : reduced) {
      if (row.test(bit)) one.set(highest);
    }
  }
  return out;
}

}  // namespace kdgat::arrays
