// A table whose values are replaced by the numbers of bins: all that a boosted tree is grown from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/trees/table.h"

namespace kdgat::trees {

/// The cuts between the bins of one column, ascending: value <= cuts[b] for bins 0 .. b and above
/// it for those behind. As many bins as different values if they are at most `most`, each its own;
/// otherwise `most` or fewer of about the same weight. Values of NaN and rows of weight 0 are left
/// out. A cut c between neighbours a < b has a <= c < b.
std::vector<float> quantile_cuts(std::span<const float> values, std::span<const float> weights,
                                 int64_t most);

class BinnedTable {
 public:
  static constexpr int64_t kMostBins = 255;  ///< and one for what is missing

  BinnedTable(const Table& table, int64_t most_bins, int threads);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return static_cast<int64_t>(cuts_.size()); }
  /// Bins of a column; what is missing has this number.
  int64_t bins(int64_t column) const { return static_cast<int64_t>(cuts_of(column).size()) + 1; }
  std::span<const float> cuts_of(int64_t column) const {
    return cuts_[static_cast<std::size_t>(column)];
  }
  /// The bin of each row.
  const uint8_t* codes(int64_t column) const {
    return codes_.data() + static_cast<std::size_t>(column * rows_);
  }

 private:
  int64_t rows_;
  std::vector<std::vector<float>> cuts_;
  std::vector<uint8_t> codes_;  ///< [columns, rows]
};

}  // namespace kdgat::trees
