// From a collection of graphs to the arrays of a store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/data/graphs/graph_collection.h"
#include "engine/graph/graph_store.h"

namespace kdgat::data {

/// What was left out of the edges of a graph, or put to them.
struct EdgeChanges {
  int64_t loops = 0;     ///< from a node to itself: layers put loops of their own
  int64_t repeated = 0;  ///< that stood before
  int64_t added = 0;     ///< reverses of edges that had none
};

/// The edges of `graph` ordered by (source, target), each once, the first of equal ones, without
/// loops; with `undirected` the reverse of each, with its features, where there was none.
EdgeChanges tidy_edges(GivenGraph& graph, std::size_t edge_features, bool undirected);

/// Decides what labels are (the option `task`): classes, or numbers to be predicted, which become
/// targets. Throws Error(kData), with the place, for labels that are neither, or not what `task`
/// says. `to_learn`: else a class may have one graph.
void choose_task(GraphCollection& collection, const std::string& task, bool to_learn);

/// The classes that occur, in the order of their numbers if all are numbers, else of their names.
std::vector<std::string> classes_of(const std::vector<GraphInfo>& graphs);

/// The store's arrays, with Targets for the names of classes, or for the numbers to be predicted.
/// The graphs of one part and group stand together, a source of the store: those without a group
/// first, which are independent of each other. Its role is "test" or "train"; of graphs that are
/// for validation its scenario is "val". row_begin says the place of a graph in the collection. A
/// store without node features gets one, "degree": edges into the node. Columns spill to `folder`.
/// Throws Error(kData) for a group in two parts, and what `graph` and `step`, called for each
/// graph, throw.
graph::GraphStoreData build_graphs(const GraphCollection& collection, bool undirected,
                                   const std::filesystem::path& folder,
                                   const std::function<void()>& step, EdgeChanges& changes);

}  // namespace kdgat::data
