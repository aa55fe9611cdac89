// Tables of random numbers for tests of the learners that read them, with the labels of a rule.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/trees/table.h"

namespace kdgat::test {

/// Owns what a trees::Table looks at.
struct TableOf {
  std::vector<float> values;
  int64_t columns = 0;
  std::vector<int64_t> labels;
  std::vector<float> weights;

  trees::Table view() const { return {values, columns, labels, weights}; }
  const float* row(std::size_t r) const {
    return values.data() + r * static_cast<std::size_t>(columns);
  }
};

/// Numbers in [-1, 1), a share of them missing; `odds(row)` is the log-odds of label 1.
template <class F>
TableOf random_table(int64_t rows, int64_t columns, uint64_t seed, F odds, double missing = 0) {
  arrays::Random random(seed);
  TableOf out;
  out.columns = columns;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const auto value = static_cast<float>(random.uniform() * 2 - 1);
      const bool is_missing = random.uniform() < missing;
      out.values.push_back(is_missing ? std::numeric_limits<float>::quiet_NaN() : value);
    }
    const double score = odds(out.row(static_cast<std::size_t>(r)));
    out.labels.push_back(random.uniform() < 1 / (1 + std::exp(-score)) ? 1 : 0);
  }
  return out;
}

}  // namespace kdgat::test
