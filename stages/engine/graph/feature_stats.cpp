#include "engine/graph/feature_stats.h"

#include <algorithm>
#include <cmath>

namespace kdgat::graph {

namespace {

/// Two passes over the rows ptr[g] .. ptr[g+1] of each graph g, columns from `first` on.
ColumnStats column_stats(std::span<const float> values, std::span<const int64_t> ptr,
                         std::span<const int64_t> ids, int64_t columns, int64_t first) {
  const auto width = static_cast<std::size_t>(std::max<int64_t>(0, columns - first));
  ColumnStats out{std::vector<double>(width), std::vector<double>(width)};
  int64_t rows = 0;
  for (const bool centred : {false, true}) {
    std::vector<double>& sum = centred ? out.deviation : out.mean;
    rows = 0;
    for (const int64_t id : ids) {
      const auto g = static_cast<std::size_t>(id);
      rows += ptr[g + 1] - ptr[g];
      for (int64_t r = ptr[g]; r < ptr[g + 1]; ++r) {
        const float* row = values.data() + r * columns + first;
        for (std::size_t c = 0; c < width; ++c) {
          const double d = row[c] - (centred ? out.mean[c] : 0.0);
          sum[c] += centred ? d * d : d;
        }
      }
    }
    for (double& s : sum) s /= static_cast<double>(std::max<int64_t>(rows, 1));
  }
  for (double& d : out.deviation) d = std::sqrt(d);
  return out;
}

}  // namespace

ColumnStats node_stats(const GraphStore& store, std::span<const int64_t> ids, int64_t first) {
  return column_stats(store.x(), store.node_ptr(), ids, store.node_features(), first);
}

ColumnStats edge_stats(const GraphStore& store, std::span<const int64_t> ids) {
  return column_stats(store.edge_attr(), store.edge_ptr(), ids, store.edge_features(), 0);
}

double mean_log_degree(const GraphStore& store, std::span<const int64_t> ids) {
  double sum = 0, nodes = 0;
  std::vector<int64_t> degree;
  for (const int64_t id : ids) {
    const auto g = static_cast<std::size_t>(id);
    degree.assign(static_cast<std::size_t>(store.node_ptr()[g + 1] - store.node_ptr()[g]), 0);
    for (int64_t e = store.edge_ptr()[g]; e < store.edge_ptr()[g + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const int32_t target = store.edge_target()[at];
      if (store.edge_source()[at] != target) ++degree[static_cast<std::size_t>(target)];
    }
    for (const int64_t d : degree) sum += std::log(static_cast<double>(d + 1));
    nodes += static_cast<double>(degree.size());
  }
  return sum > 0 ? sum / nodes : 1;
}

}  // namespace kdgat::graph
