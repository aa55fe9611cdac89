// What a detector learns from, made by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "detector/learning.h"
#include "engine/arrays/random.h"
#include "engine/data/can/windows/relative_windows.h"

namespace kdgat::test {

/// Rows of which one column, kUnknown, tells an attack; folds 0 to 2.
inline detector::Learning made_learning(std::size_t rows) {
  arrays::Random random(4);
  detector::Learning out;
  for (std::size_t i = 0; i < rows; ++i) {
    const bool attack = i % 4 == 0;
    std::vector<float> row(data::kRelativeColumns, 0);
    row[0] = static_cast<float>(random.uniform()) + (attack ? 2.0F : 0.0F);
    out.rows.values.insert(out.rows.values.end(), row.begin(), row.end());
    out.rows.labels.push_back(attack ? 1 : 0);
    out.rows.weights.push_back(1);
    out.rows.folds.push_back(static_cast<int32_t>(i % 3));
    out.rows.own.push_back(0);
    out.rows.plain.push_back(attack ? 0 : 1);
  }
  for (int32_t fold = 0; fold < 3; ++fold) {
    detector::Held held;
    held.values.assign(10 * data::kRelativeColumns, 0);
    held.seconds = 5;
    held.fold = fold;
    out.held.push_back(held);
  }
  return out;
}

}  // namespace kdgat::test
