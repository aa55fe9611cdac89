#include "engine/arrays/bit_space.h"

#include <bit>
#include <catch2/catch.hpp>

#include "engine/arrays/random.h"

using namespace kdgat::arrays;

namespace {

/// Bits among the first `bits` of each word.
BitVector drawn(Random& random, int bits) {
  BitVector out;
  for (uint64_t& word : out.words) word = random.next() >> (64 - bits);
  return out;
}

bool have_even_part(const BitVector& a, const BitVector& b) {
  int common = 0;
  for (std::size_t i = 0; i < a.words.size(); ++i) common += std::popcount(a.words[i] & b.words[i]);
  return common % 2 == 0;
}

}  // namespace

TEST_CASE("a bit space holds the sums of its vectors and no others", "[bit_space]") {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<BitVector> some;
    BitSpace space;
    for (int i = 0; i < 7; ++i) space.add(some.emplace_back(drawn(random, 3)));
    std::size_t sums = 0;  // distinct ones, of all subsets
    std::vector<BitVector> seen;
    for (unsigned subset = 0; subset < 1U << some.size(); ++subset) {
      BitVector sum;
      for (std::size_t i = 0; i < some.size(); ++i) {
        if ((subset >> i & 1) != 0) sum ^= some[i];
      }
      CHECK(space.rest(sum).empty());
      if (std::find(seen.begin(), seen.end(), sum) == seen.end()) {
        seen.push_back(sum);
        ++sums;
      }
    }
    CHECK(sums == std::size_t{1} << space.size());
    const BitVector other = drawn(random, 3);
    const bool is_sum = std::find(seen.begin(), seen.end(), other) != seen.end();
    CHECK(space.rest(other).empty() == is_sum);
  }
}

TEST_CASE("a bit space names a basis of what is orthogonal to it", "[bit_space]") {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const int bits = 1 + static_cast<int>(random.below(64));
    BitVector among;
    for (uint64_t& word : among.words) word = ~uint64_t{0} >> (64 - bits);
    BitSpace space, other;
    std::vector<BitVector> some;
    const uint64_t count = random.below(40);
    for (uint64_t i = 0; i < count; ++i) {
      some.push_back(drawn(random, bits));
      (i % 2 == 0 ? space : other).add(some.back());
    }
    space.add(other);
    const std::vector<BitVector> found = space.orthogonal(among);
    CHECK(found.size() == static_cast<std::size_t>(3 * bits) - space.size());
    BitSpace independent;
    for (const BitVector& one : found) {
      CHECK(independent.add(one));
      for (const BitVector& row : some) CHECK(have_even_part(one, row));
      for (std::size_t i = 0; i < one.words.size(); ++i) {
        CHECK((one.words[i] & ~among.words[i]) == 0);
      }
    }
  }
}
