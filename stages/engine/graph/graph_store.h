// GraphStore: many small directed graphs in one memory-mapped file, and the sections that their
// kind of data has. Owns the mapping; shared by all splits and stages. Knows nothing about where
// graphs came from, models or batches.
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

#include "engine/arrays/column.h"
#include "engine/graph/graph_set.h"
#include "engine/graph/sections/sections.h"
#include "engine/graph/store_file.h"

namespace kdgat::graph {

inline constexpr int kStoreFormatVersion = 1;

/// facts(): {"graphs","attack","benign": graphs of class 1 and 0, none where classes have names,
///  "unlabelled","num_ids": 1 where nodes have none,"node_features","edge_features",
///  "nodes":{"p50","p95","p99","max","sum"},"edges":{same}}; with sections also what the
///  add_facts() of each says, below section_facts_key() (section_facts.h)
class GraphStore : public StoreFile, public GraphSet {
 public:
  /// Checks header, shapes, facts, hashes as `check` says, and that nothing in it that indexes
  /// memory leaves its graph. Throws Error(kData).
  static GraphStore open(const std::filesystem::path& path, Check check = Check::kOnce) {
    return {path, check};
  }
  /// Whether the file says that it is one.
  static bool is_store(const file::SafetensorsFile& file) {
    return StoreFile::is_store(file, kKind);
  }
  static constexpr StoreKind kKind = {"kdgat.graphs", kStoreFormatVersion, "graph store", ""};

  int64_t graphs() const { return static_cast<int64_t>(y_.size()); }
  int64_t nodes() const { return node_ptr_.back(); }
  int64_t edges() const { return edge_ptr_.back(); }
  int64_t node_features() const { return node_features_; }
  int64_t edge_features() const { return edge_features_; }

  std::span<const float> x() const { return x_; }                   ///< [N,F]
  std::span<const int32_t> edge_source() const { return source_; }  ///< [E] local to its graph,
  std::span<const int32_t> edge_target() const {
    return target_;
  }  ///< [E] ordered by (source, target)
  std::span<const int32_t> target_order() const {
    return target_order_;
  }  ///< [E] local edge positions ordered by (target, source)
  std::span<const float> edge_attr() const { return edge_attr_; }  ///< [E,D]
  /// [G] number of its class, -1 = no label. Without Targets there are two classes without names.
  std::span<const int32_t> y() const { return y_; }
  std::span<const int64_t> node_ptr() const { return node_ptr_; }  ///< [G+1]
  std::span<const int64_t> edge_ptr() const { return edge_ptr_; }  ///< [G+1]
  std::span<const int64_t> row_begin() const {
    return row_begin_;
  }  ///< [G] first row in its source file
  std::span<const int64_t> row_end() const { return row_end_; }      ///< [G] one past the last row
  std::span<const int32_t> source_of() const { return source_of_; }  ///< [G] index into sources()

  // Null where the store has no such section.
  const Positions* positions() const { return find<Positions>(); }
  const Trees* trees() const { return find<Trees>(); }
  const PathCounts* path_counts() const { return find<PathCounts>(); }
  const Targets* targets() const { return find<Targets>(); }
  const Ids* ids() const { return find<Ids>(); }
  const Frames* frames() const { return find<Frames>(); }
  const Sections& sections() const { return sections_; }
  /// A section that the caller cannot do without. Throws Error(kData) that names it.
  template <class Section>
  const Section& need() const {
    const std::optional<Section>& found = sections_.get<Section>();
    if (!found) throw lacks<Section>(path().string() + ": ");
    return *found;
  }

  StepTotals size_of(int64_t id) const override;
  int64_t label_of(int64_t id) const override { return y_[static_cast<std::size_t>(id)]; }
  bool is_spatial() const override { return positions() != nullptr; }
  const std::string& content_hash() const override { return StoreFile::content_hash(); }
  void gather(std::span<const int64_t> ids, bool with_edge_attr, GraphBatch& out) const override;

  const std::vector<std::string>& node_feature_names() const { return node_feature_names_; }
  const std::vector<std::string>& edge_feature_names() const { return edge_feature_names_; }

  /// Data hashes, offsets monotone, node indices in range, orders sorted; empty when sound.
  std::vector<Diagnostic> verify() const;

 private:
  GraphStore(const std::filesystem::path& path, Check check);
  void check_facts() const;
  void check_ranges() const;
  template <class Section>
  const Section* find() const {
    const std::optional<Section>& found = sections_.get<Section>();
    return found ? &*found : nullptr;
  }

  int64_t node_features_ = 0;
  int64_t edge_features_ = 0;
  std::span<const float> x_, edge_attr_;
  std::span<const int32_t> source_, target_, target_order_, y_, source_of_;
  std::span<const int64_t> node_ptr_, edge_ptr_, row_begin_, row_end_;
  Sections sections_;
  std::vector<std::string> node_feature_names_, edge_feature_names_;
};

/// Everything a store holds, in memory, while it is being built. Arrays as in GraphStore.
struct GraphStoreData {
  int64_t node_features = 0;
  int64_t edge_features = 0;
  arrays::Column<float> x, edge_attr;
  arrays::Column<int32_t> edge_source,
      edge_target;  ///< target_order is computed by write_graph_store
  std::vector<int32_t> y, source_of;
  std::vector<int64_t> node_ptr{0}, edge_ptr{0};
  std::vector<int64_t> row_begin, row_end;
  std::vector<Source> sources;
  std::vector<std::string> node_feature_names, edge_feature_names;
  SectionData sections;
  nlohmann::json options;

  /// What outgrows the memory set aside for it stands in nameless files of `folder`; of the frames,
  /// too, where they are wanted by then.
  void spill_to(const std::filesystem::path& folder);
};

/// Writes atomically, with hashes and facts. What it puts together on the way spills into the
/// folder of `path`. Throws Error(kData) if the arrays do not agree.
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
  /// source, or of one group of sources, stay together). Of graphs with positions or classes, no
  /// clock, "time" means "group".
  std::string kind = "time";
  double val_fraction = 0.2;
  double test_fraction = 0.2;  ///< only where the data has no test sources
  int64_t seed = 42;
  int64_t folds = 0;  ///< with "group": so many parts of about one size, one of them the test part;
                      ///< 0 = test_fraction
  int64_t fold = 0;   ///< which
};

/// Graphs of "train" sources go to train and val (and test where no source has role "test"), those
/// of scenario "val" to val, then no others; of "test" sources to "test/<scenario>". `time` never
/// lets windows that share rows straddle parts, `group` no graphs of one source, except of sources
/// that are independent; each part has its share of each class, as far as whole sources allow.
Split make_split(const GraphStore& store, const SplitOptions& options);
void write_split(const std::filesystem::path& path, const Split& split);
/// Refuses a split of another store and indices out of range.
Split load_split(const std::filesystem::path& path, const GraphStore& store);

}  // namespace kdgat::graph
