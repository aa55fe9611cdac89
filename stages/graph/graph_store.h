// GraphStore: many small directed graphs in one memory-mapped file. Owns the mapping; shared by all
// splits and stages. Knows nothing about CAN, models or batches. No LibTorch.
//
// G graphs, N nodes and E edges in all, F node features, D edge features.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "graph/store_file.h"

namespace kdgat::graph {

inline constexpr int kStoreFormatVersion = 1;

/// Of graphs in space, beside the arrays that every store has; empty without positions. Trees are
/// found once, when the store is made (see spatial.h): paths are never kept, only their number.
struct SpatialArrays {
  std::span<const float> pos;          ///< [N,3]
  std::span<const int32_t> parent;     ///< [N] local, -1 = a root
  std::span<const int32_t> tour;       ///< [2,N] Euler tour: in, out; j is in the subtree of i
                                       ///< where in[i] <= in[j] < out[i]; local to the graph
  std::span<const int64_t> paths;      ///< [N] third-order paths that start there, its own included
  std::span<const int64_t> relations;  ///< [G,3] see Relations
  std::span<const float> target;       ///< [G] a number to be predicted, NaN = none
  std::vector<std::string> classes;    ///< what y counts; y of a spatial store is -1 = no label
};

/// Of the trees of one graph, or of several.
struct Relations {
  int64_t edges = 0;      ///< pairs of parent and child
  int64_t internal = 0;   ///< nodes with children
  int64_t unrelated = 0;  ///< unordered pairs of one tree, neither an ancestor of the other
};

/// facts(): {"graphs","attack","benign","unlabelled","num_ids","node_features","edge_features",
///  "nodes":{"p50","p95","p99","max","sum"},"edges":{same}}; of graphs in space also
///  "spatial":{"classes":[names],"class_graphs":[graphs of each],"targets","are_trees",
///  "paths":{same},"triplets":{"sum"},"arcs":{"sum"},"edge_length":{"median"}}, and neither attack
///  nor benign
class GraphStore : public StoreFile {
 public:
  /// Checks header, shapes, offsets and the header's hash; data hashes only on verify() and once
  /// per file identity (inode, size, mtime; remembered in the user's cache folder) if
  /// `check_identity`. Throws Error(kData).
  static GraphStore open(const std::filesystem::path& path, bool check_identity = false);

  int64_t graphs() const { return static_cast<int64_t>(y_.size()); }
  int64_t nodes() const { return node_ptr_.back(); }
  int64_t edges() const { return edge_ptr_.back(); }
  int64_t node_features() const { return node_features_; }
  int64_t edge_features() const { return edge_features_; }
  int64_t num_ids() const {
    return static_cast<int64_t>(vocabulary_.size()) + 1;
  }  ///< with OOV, the last

  std::span<const float> x() const { return x_; }                   ///< [N,F]
  std::span<const int32_t> edge_source() const { return source_; }  ///< [E] local to its graph,
  std::span<const int32_t> edge_target() const {
    return target_;
  }  ///< [E] ordered by (source, target)
  std::span<const int32_t> target_order() const {
    return target_order_;
  }  ///< [E] local edge positions ordered by (target, source)
  std::span<const float> edge_attr() const { return edge_attr_; }  ///< [E,D]
  std::span<const int32_t> y() const { return y_; }  ///< [G] 1 attack, 0 benign, -1 no label
  std::span<const int64_t> node_ptr() const { return node_ptr_; }  ///< [G+1]
  std::span<const int64_t> edge_ptr() const { return edge_ptr_; }  ///< [G+1]
  std::span<const int64_t> row_begin() const {
    return row_begin_;
  }  ///< [G] first row in its source file
  std::span<const int64_t> row_end() const { return row_end_; }      ///< [G] one past the last row
  std::span<const int32_t> source_of() const { return source_of_; }  ///< [G] index into sources()
  std::span<const int64_t> vocabulary() const {
    return vocabulary_;
  }  ///< [num_ids-1] raw ids, ascending

  bool is_spatial() const { return !spatial_.pos.empty(); }
  const SpatialArrays& spatial() const { return spatial_; }

  const std::vector<std::string>& node_feature_names() const { return node_feature_names_; }
  const std::vector<std::string>& edge_feature_names() const { return edge_feature_names_; }

  /// Data hashes, offsets monotone, node indices in range, orders sorted; empty when sound.
  std::vector<Diagnostic> verify() const;

 private:
  explicit GraphStore(const std::filesystem::path& path);

  int64_t node_features_ = 0;
  int64_t edge_features_ = 0;
  std::span<const float> x_, edge_attr_;
  std::span<const int32_t> source_, target_, target_order_, y_, source_of_;
  std::span<const int64_t> node_ptr_, edge_ptr_, row_begin_, row_end_, vocabulary_;
  SpatialArrays spatial_;
  std::vector<std::string> node_feature_names_, edge_feature_names_;
};

/// What is known of graphs in space before their trees are; arrays as in SpatialArrays.
struct SpatialData {
  std::vector<float> pos;
  std::vector<int32_t> parent;  ///< tour, paths and relations are computed by write_graph_store
  std::vector<float> target;    ///< [G], or empty = none has one
  std::vector<std::string> classes;
};

/// Everything a store holds, in memory, while it is being built. Arrays as in GraphStore.
struct GraphStoreData {
  int64_t node_features = 0;
  int64_t edge_features = 0;
  std::vector<float> x, edge_attr;
  std::vector<int32_t> edge_source, edge_target;  ///< target_order is computed by write_graph_store
  std::vector<int32_t> y, source_of;
  std::vector<int64_t> node_ptr{0}, edge_ptr{0};
  std::vector<int64_t> row_begin, row_end;
  std::vector<int64_t> vocabulary;
  std::vector<Source> sources;
  std::vector<std::string> node_feature_names, edge_feature_names;
  SpatialData spatial;  ///< without positions: not in space
  nlohmann::json options;
};

/// Writes atomically, with hashes and facts. Throws Error(kData) if the arrays do not agree.
void write_graph_store(const std::filesystem::path& path, const GraphStoreData& data);

/// Graph indices by name: "train", "val", and "test" or "test/<scenario>" for each test scenario.
/// A small side file; another seed or fold rewrites nothing else.
struct Split {
  std::map<std::string, std::vector<int64_t>> parts;
  nlohmann::json options;  ///< how it was made
  std::string store_hash;  ///< content_hash() of the store it indexes
};

struct SplitOptions {
  /// "time" (blocks of each file), "random" (seeded shuffle of graphs) or "group" (graphs of one
  /// source stay together). Of graphs in space "time" means "group".
  std::string kind = "time";
  double val_fraction = 0.2;
  double test_fraction = 0.2;  ///< only where the data has no test sources
  int64_t seed = 42;
  int64_t folds = 0;  ///< with "group": so many parts of about one size, one of them the test part;
                      ///< 0 = test_fraction
  int64_t fold = 0;   ///< which
};

/// Graphs of "train" sources go to train and val (and test where no source has role "test"); graphs
/// of "test" sources to "test/<scenario>". `time` never lets windows that share rows straddle
/// parts. `group` never lets graphs of one source straddle parts, except of sources that are
/// independent; each part has its share of the graphs of each class, as far as whole sources allow.
Split make_split(const GraphStore& store, const SplitOptions& options);
void write_split(const std::filesystem::path& path, const Split& split);
/// Refuses a split of another store and indices out of range.
Split load_split(const std::filesystem::path& path, const GraphStore& store);

}  // namespace kdgat::graph
