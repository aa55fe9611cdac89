// GraphSet: graphs that a step can be made of, whatever they are kept in: all that training knows
// of a data set.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kdgat::graph {

struct GraphBatch;

/// Sizes of a whole optimiser step, over all packs accumulated into it.
struct StepTotals {
  int64_t graphs = 0, nodes = 0, edges = 0;
  // Where the store has PathCounts, and Trees:
  int64_t paths = 0;      ///< of third order
  int64_t relations = 0;  ///< pairs of parent and child
  int64_t internal = 0;   ///< nodes with children
  int64_t negatives = 0;  ///< unrelated pairs drawn: at most kNegatives a graph
};

class GraphSet {
 public:
  virtual ~GraphSet() = default;

  /// What graph `id` adds to a step. Ids must be in range, here and below.
  virtual StepTotals size_of(int64_t id) const = 0;
  /// Number of its class, -1 = no label.
  virtual int64_t label_of(int64_t id) const = 0;
  /// In space: one graph alone is much work.
  virtual bool is_spatial() const = 0;
  /// The identity of the data, used in fingerprints.
  virtual const std::string& content_hash() const = 0;
  /// Replaces `out` by the graphs `ids`, in that order.
  virtual void gather(std::span<const int64_t> ids, bool with_edge_attr, GraphBatch& out) const = 0;

 protected:
  GraphSet() = default;
  GraphSet(const GraphSet&) = default;
  GraphSet(GraphSet&&) = default;
  GraphSet& operator=(const GraphSet&) = default;
  GraphSet& operator=(GraphSet&&) = default;
};

}  // namespace kdgat::graph
