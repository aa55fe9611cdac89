#include "engine/graph/rewire.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"

namespace kdgat::graph {
namespace {

/// The edges of one graph, by target; they stand at places of the batch.
class Wiring {
 public:
  Wiring(GraphBatch& batch, int64_t graph)
      : batch_(batch), first_node_(batch.node_ptr[graph]), end_node_(batch.node_ptr[graph + 1]) {
    const int32_t* in_ptr = batch.in_ptr.data();
    first_ = in_ptr[first_node_];
    edges_.resize(static_cast<std::size_t>(in_ptr[end_node_] - first_));
    for (int32_t node = first_node_; node < end_node_; ++node) {
      for (int32_t place = in_ptr[node]; place < in_ptr[node + 1]; ++place) {
        edges_[at(place)] = {batch.in_source[place], place};
        if (batch.in_source[place] != node) movable_.push_back({place, node});
      }
    }
  }

  void shuffle(arrays::Random& random) {
    if (movable_.size() < 2) return;
    const auto count = static_cast<int64_t>(movable_.size());
    for (int64_t i = 0; i < kSwitches * count; ++i) {
      const Place a = movable_[random.below(movable_.size())];
      const Place b = movable_[random.below(movable_.size())];
      Edge &of_a = edges_[at(a.place)], &of_b = edges_[at(b.place)];
      if (of_a.source == b.target || of_b.source == a.target) continue;
      if (has(of_a.source, b.target) || has(of_b.source, a.target)) continue;
      std::swap(of_a, of_b);
    }
  }

  /// `attr`: room for the features of the batch's edges, [E, D].
  void write(std::vector<float>& attr) {
    for (int32_t node = first_node_; node < end_node_; ++node) {
      const std::span<Edge> into = into_node(node);
      std::sort(into.begin(), into.end(),
                [](const Edge& a, const Edge& b) { return a.source < b.source; });
    }
    const bool has_attr = !attr.empty();
    const int64_t width = batch_.edge_features;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const int64_t place = first_ + static_cast<int64_t>(i);
      batch_.in_source[place] = edges_[i].source;
      if (!has_attr) continue;
      const float* from = batch_.edge_attr.data() + edges_[i].was * width;
      std::copy(from, from + width, attr.data() + place * width);
    }
  }

 private:
  struct Edge {
    int32_t source, was;  ///< `was`: where its features stand
  };
  struct Place {
    int32_t place, target;
  };

  std::size_t at(int32_t place) const { return static_cast<std::size_t>(place - first_); }
  std::span<Edge> into_node(int32_t node) {
    return {edges_.data() + at(batch_.in_ptr[node]), edges_.data() + at(batch_.in_ptr[node + 1])};
  }
  bool has(int32_t source, int32_t target) {
    const std::span<Edge> into = into_node(target);
    return std::any_of(into.begin(), into.end(),
                       [source](const Edge& edge) { return edge.source == source; });
  }

  GraphBatch& batch_;
  int32_t first_node_, end_node_;
  int32_t first_ = 0;  ///< place of the first edge
  std::vector<Edge> edges_;
  std::vector<Place> movable_;  ///< edges between different nodes
};

}  // namespace

void rewire(GraphBatch& batch, uint64_t seed) {
  std::vector<float> attr(static_cast<std::size_t>(batch.edge_attr.size()));
  for (int64_t graph = 0; graph < batch.graphs; ++graph) {
    arrays::Random random(seed, static_cast<uint64_t>(batch.graph_id[graph]));
    Wiring wiring(batch, graph);
    wiring.shuffle(random);
    wiring.write(attr);
  }
  if (!attr.empty()) std::copy(attr.begin(), attr.end(), batch.edge_attr.data());
}

}  // namespace kdgat::graph
