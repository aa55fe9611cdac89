// A table of plain numbers, with a label for each row: what the learners of this room learn from.
// It does not know where its numbers came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kdgat::trees {

/// A view; whoever makes it keeps the numbers alive. NaN is a missing value; an infinite one is
/// beyond all others.
struct Table {
  std::span<const float> values;  ///< [rows, columns], row by row
  int64_t columns = 0;
  std::span<const int64_t> labels;  ///< [rows], 0 or 1; empty where none are needed
  std::span<const float> weights;   ///< [rows], finite and >= 0; empty: 1 each

  int64_t rows() const { return columns > 0 ? static_cast<int64_t>(values.size()) / columns : 0; }
  std::span<const float> row(int64_t r) const {
    const auto width = static_cast<std::size_t>(columns);
    return values.subspan(static_cast<std::size_t>(r) * width, width);
  }
  double weight(int64_t r) const {
    return weights.empty() ? 1.0 : static_cast<double>(weights[static_cast<std::size_t>(r)]);
  }
};

/// Throws Error(kData), with `name` before the reason, if the table has no row, no column or a
/// part of a row, if its labels are not 0 or 1 each (none at all is right unless `needs_labels`),
/// or if its weights are not as said above or add up to 0.
void check_table(const Table& table, bool needs_labels, const std::string& name);

/// Throws Error(kData) if the row has another number of columns.
void check_width(std::span<const float> row, int64_t columns);

/// What `score` gives for each row, by so many threads; 0: as many as there are.
std::vector<double> scores_of_rows(const Table& table, int64_t threads,
                                   const std::function<double(std::span<const float>)>& score);

}  // namespace kdgat::trees
