// The data set a stage is given: the graph store, its split, and choosing graphs by label.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/graph/graph_store.h"

namespace kdgat::train {

/// Of each of `ids`; -1 = no label.
std::vector<int64_t> labels_of(const graph::GraphSet& store, const std::vector<int64_t>& ids);

struct Data {
  graph::GraphStore store;
  graph::Split split;

  /// Graphs of a part; empty if there is no such part.
  std::vector<int64_t> part(const std::string& name) const;
  /// Those of `ids` whose label is `label` (1 attack, 0 benign, -1 none).
  std::vector<int64_t> with_label(const std::vector<int64_t>& ids, int label) const;
  std::vector<int64_t> labels(const std::vector<int64_t>& ids) const {
    return labels_of(store, ids);
  }
};

/// Those of `ids` that have a label, in order.
std::vector<int64_t> labelled(const Data& data, const std::vector<int64_t>& ids);
/// Those of `ids` that have a target, in order.
std::vector<int64_t> with_target(const Data& data, const std::vector<int64_t>& ids);
/// The targets of graphs `ids`, [n, T] row by row; NaN = not known.
std::vector<float> targets_of(const Data& data, const std::vector<int64_t>& ids);
/// Those of `ids` labelled 0 or 1, in order; none unless both labels occur.
std::vector<int64_t> labelled_of_both_classes(const Data& data, const std::vector<int64_t>& ids);

/// What a model must know of the graphs it was made for: {"node_features": [names],
/// "edge_features": [names], "vocabulary": [raw ids, ascending], "import": the import options}; of
/// labelled graphs also "classes": [names], and "targets": [names] where numbers are predicted.
nlohmann::json layout_of(const graph::GraphStore& store);

/// Whether these are graphs of the domain "graphs": with classes, and neither places nor
/// identifiers.
bool is_labelled_graphs(const graph::GraphStore& store);
/// Whether numbers are to be predicted of them.
bool has_targets(const graph::GraphStore& store);
/// How many ids nodes may have, with the unknown one; 0 where no id names them: of labelled graphs,
/// and of windows relative to a profile. Throws Error(kData) where other graphs have none.
int64_t ids_of(const graph::GraphStore& store);

/// `folder` holds graphs.safetensors and split.safetensors. Throws Error(kData).
Data open_data(const std::filesystem::path& folder);

}  // namespace kdgat::train
