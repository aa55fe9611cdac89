#include "fields/space/objective/tree_pairs.h"

#include <algorithm>
#include <utility>

#include "engine/arrays/random.h"

namespace kdgat::space {

namespace {

/// The unrelated pairs of a graph, counted but not written down: the partners of a node that come
/// after it in the tour are all nodes from the end of its subtree to the end of its tree.
class UnrelatedPairs {
 public:
  /// Of the nodes [first, end) of the batch.
  UnrelatedPairs(const graph::GraphBatch& batch, int32_t first, int32_t end)
      : node_(static_cast<std::size_t>(end - first)), before_(node_.size() + 1) {
    for (int32_t v = first; v < end; ++v) {
      node_[static_cast<std::size_t>(batch.tour_in[v])] = v;
      if (batch.parent[v] >= 0) ++relations_.edges;
    }
    out_.reserve(node_.size());
    int32_t tree_end = 0;
    for (std::size_t at = 0; at < node_.size(); ++at) {
      const int32_t v = node_[at];
      if (batch.parent[v] < 0) tree_end = batch.tour_out[v];
      out_.push_back(batch.tour_out[v]);
      // Not less than none: a tour that is not that of its parents must not lead outside.
      before_[at + 1] = before_[at] + std::max(0, tree_end - batch.tour_out[v]);
    }
    relations_.unrelated = before_.back();
  }

  const arrays::Relations& relations() const { return relations_; }

  /// Pair number `n` < relations().unrelated; the first node comes first in the tour.
  std::pair<int64_t, int64_t> pair(int64_t n) const {
    const auto next = std::upper_bound(before_.begin(), before_.end(), n);
    const auto at = static_cast<std::size_t>(next - before_.begin()) - 1;
    const auto partner = static_cast<std::size_t>(out_[at] + (n - before_[at]));
    return {node_[at], node_[partner]};
  }

 private:
  std::vector<int32_t> node_;    ///< in the order of the tour
  std::vector<int32_t> out_;     ///< end of its subtree in that order
  std::vector<int64_t> before_;  ///< pairs whose first node comes before it
  arrays::Relations relations_;
};

}  // namespace

NodePairs parent_child_pairs(const graph::GraphBatch& batch) {
  NodePairs out;
  for (int64_t v = 0; v < batch.nodes; ++v) {
    if (batch.parent[v] < 0) continue;
    out.first.push_back(batch.parent[v]);
    out.second.push_back(v);
  }
  return out;
}

NodePairs unrelated_pairs(const graph::GraphBatch& batch, uint64_t seed, int64_t step) {
  const uint64_t of_step = arrays::Random(seed, static_cast<uint64_t>(step)).next();
  NodePairs out;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const UnrelatedPairs all(batch, batch.node_ptr[g], batch.node_ptr[g + 1]);
    arrays::Random random(of_step, static_cast<uint64_t>(batch.graph_id[g]));
    for (int64_t n = graph::negatives_of(all.relations()); n > 0; --n) {
      auto [a, b] = all.pair(
          static_cast<int64_t>(random.below(static_cast<uint64_t>(all.relations().unrelated))));
      if (random.below(2) == 1) std::swap(a, b);
      out.first.push_back(a);
      out.second.push_back(b);
    }
  }
  return out;
}

UpwardEdges::UpwardEdges(const graph::GraphBatch& batch) {
  ptr.reserve(static_cast<std::size_t>(batch.nodes) + 1);
  ptr.push_back(0);
  for (int64_t v = 0; v < batch.nodes; ++v) {
    if (batch.parent[v] >= 0) target.push_back(batch.parent[v]);
    ptr.push_back(static_cast<int32_t>(target.size()));
  }
}

}  // namespace kdgat::space
