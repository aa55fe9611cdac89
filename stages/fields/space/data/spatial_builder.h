// SpatialBuilder: collects graphs in space into the arrays of a store.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/arrays/spatial.h"
#include "engine/graph/graph_store.h"
#include "fields/space/data/labels.h"

namespace kdgat::space {

/// One graph; arrays of its nodes, numbers local to it.
struct SpatialGraph {
  std::vector<float> x;         ///< [n,F]
  std::vector<float> pos;       ///< [n,3]
  std::vector<int32_t> parent;  ///< [n]
  arrays::EdgeList edges;
  int64_t row_begin = 0, row_end = 0;  ///< of its source
};

class SpatialBuilder {
 public:
  explicit SpatialBuilder(std::vector<std::string> feature_names);

  /// What follows is of this source; its number of graphs is counted.
  void begin_source(graph::Source source);
  /// `label` null = none.
  void add(const SpatialGraph& graph, const Label* label);

  int64_t graphs() const { return static_cast<int64_t>(data_.row_begin.size()); }
  int64_t unlabelled() const { return unlabelled_; }  ///< neither a class nor a target

  /// The store's arrays, with positions, trees, counts of paths (the stages of space walk them) and
  /// targets: the classes that occur, in the order of their numbers if all are numbers,
  /// else of their names.
  graph::GraphStoreData finish();

 private:
  graph::GraphStoreData data_;
  std::vector<float> pos_;
  std::vector<int32_t> parent_;
  std::vector<std::string> label_;  // of each graph
  std::vector<float> target_;
  int64_t unlabelled_ = 0;
};

}  // namespace kdgat::space
