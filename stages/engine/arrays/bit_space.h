// BitSpace: linear algebra over GF(2), of vectors of up to 192 bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kdgat::arrays {

struct BitVector {
  static constexpr int kBits = 192;

  std::array<uint64_t, kBits / 64> words{};

  bool operator==(const BitVector&) const = default;
  bool empty() const { return words == decltype(words){}; }
  BitVector& operator^=(const BitVector& other) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] ^= other.words[i];
    return *this;
  }
  bool test(int bit) const { return (words[at(bit)] >> (bit % 64) & 1) != 0; }
  void set(int bit) { words[at(bit)] |= uint64_t{1} << (bit % 64); }
  /// -1 where there is none.
  int highest() const;

 private:
  static std::size_t at(int bit) { return static_cast<std::size_t>(bit) / 64; }
};

/// All sums of the vectors that were added.
class BitSpace {
 public:
  /// What is left of a vector that the space does not hold; empty where it does.
  BitVector rest(BitVector vector) const;
  /// Whether the space has grown.
  bool add(const BitVector& vector);
  void add(const BitSpace& other);
  std::size_t size() const { return rows_.size(); }  ///< of a basis
  /// A basis of the vectors of bits of `among` that have an even number of bits in common with each
  /// vector of the space, whose bits are among them, too.
  std::vector<BitVector> orthogonal(const BitVector& among) const;

 private:
  std::map<int, BitVector> rows_;  // by highest bit
};

}  // namespace kdgat::arrays
