#include "fields/space/setup/space_setup.h"

#include <algorithm>
#include <cmath>

namespace kdgat::space {

double median_edge_length(const graph::GraphStore& store, const std::vector<int64_t>& ids) {
  const float* pos = store.need<graph::Positions>().pos.data();
  std::vector<double> lengths;
  for (const int64_t id : ids) {
    const auto g = static_cast<std::size_t>(id);
    for (auto e = static_cast<std::size_t>(store.edge_ptr()[g]);
         e < static_cast<std::size_t>(store.edge_ptr()[g + 1]); ++e) {
      const float* a = pos + 3 * (store.node_ptr()[g] + store.edge_source()[e]);
      const float* b = pos + 3 * (store.node_ptr()[g] + store.edge_target()[e]);
      lengths.push_back(std::hypot(double{a[0]} - b[0], double{a[1]} - b[1], double{a[2]} - b[2]));
    }
  }
  if (lengths.empty()) return 1;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle > 0 ? *middle : 1;
}

}  // namespace kdgat::space
