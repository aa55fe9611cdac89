// What the sections of a store lean on: the arrays that every store has. Views only; no LibTorch.
//
// G graphs, N nodes and E edges in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "engine/arrays/index.h"

namespace kdgat::graph {

/// Shapes and order as in GraphStore.
struct CommonArrays {
  int64_t node_features = 0, edge_features = 0;
  std::span<const float> x, edge_attr;
  std::span<const int32_t> edge_source, edge_target, target_order, y;
  std::span<const int64_t> node_ptr, edge_ptr;

  std::size_t graphs() const { return y.size(); }
  int64_t nodes() const { return node_ptr.back(); }
  /// What `values`, of all nodes and `width` numbers each, say of graph `g`.
  template <class T>
  std::span<T> of_nodes(std::span<T> values, std::size_t g, std::size_t width = 1) const {
    const std::size_t first = arrays::at(node_ptr[g]), end = arrays::at(node_ptr[g + 1]);
    return values.subspan(width * first, width * (end - first));
  }
  template <class T>
  std::span<T> of_edges(std::span<T> values, std::size_t g) const {
    const std::size_t first = arrays::at(edge_ptr[g]), end = arrays::at(edge_ptr[g + 1]);
    return values.subspan(first, end - first);
  }
};

/// "p50", "p95", "p99" and "max" of `sizes`, and their "sum".
nlohmann::json size_facts(std::vector<int64_t> sizes);

}  // namespace kdgat::graph
