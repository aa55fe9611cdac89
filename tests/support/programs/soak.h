// How often a loop of a test runs: a sample in an ordinary run, whole in scripts/soak.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace kdgat::test {

/// `sample` times the number in $SOAK (1 if it is not set).
inline int soak(int sample) {
  const char* factor = std::getenv("SOAK");
  return factor == nullptr ? sample : sample * std::max(1, std::atoi(factor));
}

}  // namespace kdgat::test
