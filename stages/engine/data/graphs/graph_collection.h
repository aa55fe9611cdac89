// GraphCollection: the graphs of an input before they stand in a store, whatever form they came in.
//
// F node features, K edge features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kdgat::data {

/// One graph as it is given; edges in any order, repeated ones and loops among them.
struct GivenGraph {
  int64_t nodes = 0;
  std::vector<float> x;                 ///< [nodes,F] finite
  std::vector<int32_t> source, target;  ///< [edges] below nodes
  std::vector<float> edge_attr;         ///< [edges,K] finite
};

/// What is said of a graph as a whole.
struct GraphInfo {
  std::string label;           ///< of its class, or its number; empty = none
  std::vector<float> targets;  ///< numbers to be predicted, NaN = none; as many as have names
  std::string part;            ///< "train", "val", "test", or empty: to be divided
  std::string group;           ///< those of one stay in one part; empty = none
};

struct GraphCollection {
  std::string name;    ///< of the input, in messages and in the store
  std::string format;  ///< as the option `format` names it
  std::vector<std::string> node_features, edge_features;  ///< names; F and K of them
  std::vector<std::string> classes;                       ///< in order; empty = those that occur
  std::vector<std::string> targets;  ///< names of numbers to be predicted; empty = there are none
  std::vector<GraphInfo> graphs;     ///< in the order of the input
  std::string label = "label";       ///< what the labels are called in the input, for messages
  std::string no_class;              ///< a label that says of a graph that its class is not known
  /// A graph of these, by its place. Throws Error(kData).
  std::function<GivenGraph(std::size_t)> graph;
  /// The place of a graph in messages: "graphs.csv:7".
  std::function<std::string(std::size_t)> where;
};

}  // namespace kdgat::data
