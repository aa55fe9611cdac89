#include "fields/ratings/data/ratings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "engine/arrays/index.h"
#include "kdgat/error.h"

namespace kdgat::ratings {
namespace {

RatingParts cut(const std::vector<int32_t>& order, double test_fraction) {
  const auto n = static_cast<double>(order.size());
  // A fraction such as 0.2 is not exact: what is within rounding of a whole number is that number.
  const auto tests = static_cast<std::ptrdiff_t>(std::ceil(n * test_fraction - 1e-9 * n));
  const auto first = order.end() - tests;
  return {{order.begin(), first}, {first, order.end()}};
}

}  // namespace

std::vector<int32_t> legacy_permutation(int64_t n, uint32_t seed) {
  std::vector<int32_t> out(arrays::at(n));
  std::iota(out.begin(), out.end(), 0);
  std::mt19937 random(seed);
  for (int64_t i = n - 1; i > 0; --i) {
    const auto most = static_cast<uint32_t>(i);
    uint32_t mask = most;
    for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
    uint32_t draw = 0;
    do {
      draw = static_cast<uint32_t>(random()) & mask;
    } while (draw > most);
    std::swap(out[arrays::at(i)], out[draw]);
  }
  return out;
}

RatingParts permuted_parts(int64_t n, double test_fraction, uint32_t seed) {
  return cut(legacy_permutation(n, seed), test_fraction);
}

RatingParts newest_parts(const std::vector<int64_t>& time, double test_fraction) {
  std::vector<int32_t> order(time.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return time[arrays::at(a)] < time[arrays::at(b)]; });
  return cut(order, test_fraction);
}

RatingGraph make_rating_graph(const Ratings& ratings, const std::vector<int32_t>& train) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int64_t nodes = ratings.nodes(), edges = 2 * static_cast<int64_t>(train.size());
  if (nodes >= kMost || edges > kMost) {
    throw Error(ExitCode::kData,
                std::to_string(nodes) + " users and items with " + std::to_string(edges) +
                    " directed edges: a graph holds at most " + std::to_string(kMost));
  }
  const auto users = static_cast<int32_t>(ratings.users.size());
  const auto user_of = [&](int32_t r) { return ratings.user[arrays::at(r)]; };
  const auto item_of = [&](int32_t r) { return users + ratings.item[arrays::at(r)]; };
  RatingGraph out;
  out.row_ptr.assign(arrays::at(nodes + 1), 0);
  for (const int32_t r : train) {
    ++out.row_ptr[arrays::at(user_of(r)) + 1];
    ++out.row_ptr[arrays::at(item_of(r)) + 1];
  }
  std::partial_sum(out.row_ptr.begin(), out.row_ptr.end(), out.row_ptr.begin());
  out.col.resize(arrays::at(edges));
  std::vector<int32_t> next(out.row_ptr.begin(), out.row_ptr.end() - 1);
  for (const int32_t r : train) {
    out.col[arrays::at(next[arrays::at(user_of(r))]++)] = item_of(r);
    out.col[arrays::at(next[arrays::at(item_of(r))]++)] = user_of(r);
  }
  for (int64_t v = 0; v < nodes; ++v) {
    std::sort(out.col.begin() + out.row_ptr[arrays::at(v)],
              out.col.begin() + out.row_ptr[arrays::at(v + 1)]);
  }
  return out;
}

}  // namespace kdgat::ratings
