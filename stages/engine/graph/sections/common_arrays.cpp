#include "engine/graph/sections/common_arrays.h"

#include <algorithm>
#include <numeric>

namespace kdgat::graph {

nlohmann::json size_facts(std::vector<int64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  const auto nearest_rank = [&sizes](std::size_t percent) {
    return sizes.empty() ? 0 : sizes[(sizes.size() * percent + 99) / 100 - 1];
  };
  return {{"p50", nearest_rank(50)},
          {"p95", nearest_rank(95)},
          {"p99", nearest_rank(99)},
          {"max", nearest_rank(100)},
          {"sum", std::accumulate(sizes.begin(), sizes.end(), int64_t{0})}};
}

}  // namespace kdgat::graph
