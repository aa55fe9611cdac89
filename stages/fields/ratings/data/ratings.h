// Ratings of items by users, in memory, and their parts. Owns nothing else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kdgat::ratings {

/// Users and items are numbered in the order of their names as strings: "1", "10", "100", "2".
struct Ratings {
  std::vector<std::string> users, items;  ///< names
  std::vector<int32_t> user, item;        ///< of each rating, numbers
  std::vector<float> rating;
  std::vector<int64_t> time;  ///< empty = unknown
  /// Features, [users + items, columns]: the narrower kind is padded with zeros.
  std::vector<float> x;
  std::vector<std::string> user_columns, item_columns;  ///< names of the features

  int64_t count() const { return static_cast<int64_t>(rating.size()); }
  int64_t nodes() const { return static_cast<int64_t>(users.size() + items.size()); }
  int64_t columns() const {
    return static_cast<int64_t>(std::max(user_columns.size(), item_columns.size()));
  }
};

/// Numbers of ratings.
struct RatingParts {
  std::vector<int32_t> train, test;
};

/// A permutation of [0, n) as NumPy's legacy RandomState(seed).permutation(n) gives it: MT19937,
/// i = n-1 .. 1 swapped with a draw under the smallest 2^k - 1 >= i that is at most i.
std::vector<int32_t> legacy_permutation(int64_t n, uint32_t seed);

/// The first ratings of the permutation train, the last ceil(n test_fraction) test.
RatingParts permuted_parts(int64_t n, double test_fraction, uint32_t seed);
/// The newest ceil(n test_fraction) test; of equal times those that came later.
RatingParts newest_parts(const std::vector<int64_t>& time, double test_fraction);

/// Compressed rows of the train graph over users, then items: row_ptr [nodes + 1] and, ascending,
/// col [2 train]. A node's row holds those that rate it or that it rates: both directions.
struct RatingGraph {
  std::vector<int32_t> row_ptr, col;
};

/// Throws Error(kData) for sizes that int32 does not hold, before anything is allocated.
RatingGraph make_rating_graph(const Ratings& ratings, const std::vector<int32_t>& train);

}  // namespace kdgat::ratings
