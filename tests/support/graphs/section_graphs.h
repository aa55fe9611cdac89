// Random graphs for stores of any of the sections.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/arrays/spatial.h"
#include "engine/graph/graph_store.h"

namespace kdgat::test {

inline constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// Which sections a store is made with; all subsets are 0 .. kAll.
enum Wanted : uint64_t {
  kPositions = 1,
  kTrees = 2,
  kPaths = 4,
  kTargets = 8,
  kIds = 16,
  kAll = 31
};

/// Random graphs with edges in both directions, and what `wanted` names of places, spanning trees,
/// counts of paths, five classes with `targets` numbers, and four ids.
inline graph::GraphStoreData graphs_with(uint64_t wanted, uint64_t seed, std::size_t targets = 1,
                                         int64_t graphs = 30) {
  arrays::Random random(seed);
  graph::GraphStoreData data;
  data.node_features = 2;
  data.node_feature_names = {"a", "b"};
  data.sources = {{"n.swc", "", "train", "swc", 1000, 0, 0, graphs, true}};
  graph::Positions::Data places;
  graph::Trees::Data trees;
  graph::Targets::Data labels{{"p", "q", "r", "s", "t"}, {}, {}};
  for (std::size_t t = 0; targets > 1 && t < targets; ++t) {
    labels.names.push_back("target_" + std::to_string(t));
  }
  for (int64_t g = 0; g < graphs; ++g) {
    const uint64_t nodes = 1 + random.below(9);
    std::vector<int32_t> source, target;
    for (uint64_t e = random.below(3 * nodes); e > 0; --e) {
      const auto a = static_cast<int32_t>(random.below(nodes));
      const auto b = static_cast<int32_t>(random.below(nodes));
      source.insert(source.end(), {a, b});
      target.insert(target.end(), {b, a});
    }
    std::vector<float> pos;
    for (uint64_t n = 0; n < nodes; ++n) {
      for (int d = 0; d < 3; ++d) pos.push_back(static_cast<float>(random.uniform()));
      const auto id = static_cast<float>(random.below(5));
      data.x.push_back(id);
      data.x.push_back(static_cast<float>(random.uniform()));
    }
    const arrays::EdgeList edges = arrays::coalesce(source, target);
    const std::vector<int32_t> parent = arrays::spanning_forest(pos, edges.source, edges.target);
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    data.edge_source.append(edges.source);
    data.edge_target.append(edges.target);
    append(places.pos, pos);
    append(trees.parent, parent);
    for (std::size_t t = 0; t < targets; ++t) {
      labels.values.push_back(random.below(4) == 0 ? kNone : static_cast<float>(random.uniform()));
    }
    data.node_ptr.push_back(data.node_ptr.back() + static_cast<int64_t>(nodes));
    data.edge_ptr.push_back(static_cast<int64_t>(data.edge_source.size()));
    data.y.push_back(static_cast<int32_t>(random.below((wanted & kTargets) != 0 ? 6 : 3)) - 1);
    data.source_of.push_back(0);
    data.row_begin.push_back(g);
    data.row_end.push_back(g + 1);
  }
  if ((wanted & kPositions) != 0) data.sections.positions = std::move(places);
  if ((wanted & kTrees) != 0) data.sections.trees = std::move(trees);
  data.sections.count_paths = (wanted & kPaths) != 0;
  if ((wanted & kTargets) != 0) data.sections.targets = std::move(labels);
  if ((wanted & kIds) != 0) data.sections.ids = {{3, 5, 8, 13}};
  return data;
}

}  // namespace kdgat::test
