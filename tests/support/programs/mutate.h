// Seeded mutations of byte strings, to run a fuzz target a bounded number of times inside a test.
// Knows nothing about what the bytes mean. The same inputs for the same seed, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/programs/soak.h"

namespace kdgat::test {

/// splitmix64: tiny, and the same numbers everywhere.
class MutationRandom {
 public:
  explicit MutationRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// In [0, n); 0 for n = 0.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(next() % n); }

 private:
  uint64_t state_;
};

/// Changes `text` in one place: a bit, a byte, a run removed, doubled or cut off, a token put in,
/// or a piece of `other` spliced in.
inline void mutate_once(std::string& text, const std::string& other, MutationRandom& random) {
  static const char* const kTokens[] = {"-1",
                                        "0",
                                        "18446744073709551615",
                                        "9223372036854775807",
                                        "1e308",
                                        "nan",
                                        "\"",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        ",",
                                        ":",
                                        "\n",
                                        "\r\n",
                                        "\t",
                                        " ",
                                        "#",
                                        "(",
                                        ")",
                                        "\xff",
                                        "null",
                                        "[]"};
  constexpr std::size_t kTokenCount = sizeof(kTokens) / sizeof(kTokens[0]);
  const std::size_t at = random.below(text.size() + 1);
  const std::size_t run = 1 + random.below(random.below(4) == 0 ? 64 : 8);
  switch (random.below(8)) {
    case 0:
      if (at < text.size()) {
        text[at] =
            static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << random.below(8)));
      }
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random.below(256));
      break;
    case 2:
      text.erase(at, run);
      break;
    case 3:
      text.insert(at, text.substr(at, run));
      break;
    case 4:
      text.resize(at);
      break;
    case 5:
      text.insert(at, kTokens[random.below(kTokenCount)]);
      break;
    case 6:
      text.insert(at, other.substr(random.below(other.size() + 1), run));
      break;
    default:
      if (at < text.size()) text[at] = static_cast<char>('0' + random.below(10));
      break;
  }
}

/// Calls `target(const uint8_t*, size_t)` with every seed as it is, then with soak(count) mutated
/// copies of one to eight changes each. A copy grows by no more than some hundred bytes.
template <class F>
void run_mutations(const std::vector<std::string>& seeds, int count, uint64_t seed, F target) {
  const auto call = [&target](const std::string& text) {
    // An exact-size copy, so that a sanitizer sees a read past the end.
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    target(bytes.data(), bytes.size());
  };
  for (const std::string& text : seeds) call(text);
  if (seeds.empty()) return;
  MutationRandom random(seed);
  for (int i = 0; i < soak(count); ++i) {
    std::string text = seeds[random.below(seeds.size())];
    const std::string& other = seeds[random.below(seeds.size())];
    for (std::size_t changes = 1 + random.below(8); changes > 0; --changes) {
      mutate_once(text, other, random);
    }
    call(text);
  }
}

}  // namespace kdgat::test
