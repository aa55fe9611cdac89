// Gradients written by hand against differences of what they are of.
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/arrays/random.h"

namespace kdgat::test {

/// In [-scale, scale).
template <class T>
std::vector<T> random_numbers(int64_t count, double scale, uint64_t seed) {
  arrays::Random random(seed);
  std::vector<T> out(static_cast<std::size_t>(count));
  for (T& value : out) value = static_cast<T>(scale * (2 * random.uniform() - 1));
  return out;
}

/// value() along a random direction in `input`, which it reads, against its gradient there.
template <class Value>
void check_direction(const std::string& what, std::vector<double>& input, const double* grad,
                     const Value& value) {
  const std::vector<double> kept = input;
  const auto step = random_numbers<double>(static_cast<int64_t>(input.size()), 1, 6);
  double expected = 0;
  for (std::size_t i = 0; i < step.size(); ++i) expected += step[i] * grad[i];
  constexpr double kStep = 1e-6;
  double sides[2];
  for (const int side : {0, 1}) {
    for (std::size_t i = 0; i < step.size(); ++i) {
      input[i] = kept[i] + (side == 0 ? kStep : -kStep) * step[i];
    }
    sides[side] = value();
  }
  input = kept;
  INFO(what);
  CHECK((sides[0] - sides[1]) / (2 * kStep) == Approx(expected).epsilon(1e-5).margin(1e-6));
}

}  // namespace kdgat::test
