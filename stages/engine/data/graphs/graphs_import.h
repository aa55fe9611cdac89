// From files of labelled graphs to the arrays of a store: tables, TUDataset folders, files of
// tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/core/dataset_files.h"
#include "engine/data/graphs/graph_collection.h"
#include "engine/data/graphs/graphs_options.h"
#include "engine/file/safetensors.h"
#include "engine/graph/graph_store.h"

namespace kdgat::data {

inline constexpr const char* kGraphTables = "graph-csv";
inline constexpr const char* kTuDataset = "tudataset";
inline constexpr const char* kGraphTensors = "graph-tensors";
inline constexpr const char* kGraphNpz = "graph-npz";

/// A safetensors file with x and edge_index, without positions, that is no store.
bool is_graph_tensors(const file::SafetensorsFile& file);

struct GraphsInput {
  std::string format;
  std::filesystem::path source;
  std::vector<LogFile> files;  ///< all that is read
};

/// What `source` holds, if that are labelled graphs: a folder with graphs.csv and nodes.csv, one
/// with NAME_A.txt and NAME_graph_indicator.txt, a file is_graph_tensors(), or an .npz file.
/// Nothing where `format` is neither "auto" nor one of the four. Reads no more than a header.
/// Throws Error(kData) if what `format` names is not there.
std::optional<GraphsInput> find_graphs(const std::filesystem::path& source,
                                       const std::string& format);

/// What a source that no form fits lacks to be graphs: the form it has, or the folder below it that
/// is meant; none if it is something else. Reads names and first lines only.
std::optional<Diagnostic> near_graphs(const std::filesystem::path& source);

/// What an import reads, and where it reports to.
struct GraphsImport {
  const GraphsInput& input;
  const GraphsOptions& options;
  std::function<bool()> cancelled;          ///< may be empty
  std::function<void(int64_t bytes)> done;  ///< of a file, so many more; throws to end the import
  Notes& warnings;
  bool to_learn = true;  ///< else to be scored: a class may have one graph
};

// Each throws Error(kData) with the place, "file:line" where there are lines, of what is wrong.
GraphCollection read_graph_tables(const GraphsImport& import);  ///< see graph_tables.cpp
GraphCollection read_tu_dataset(const GraphsImport& import);    ///< see tu_dataset.cpp
/// Of a file of tensors, safetensors or npz; see graph_tensors.h.
GraphCollection read_tensor_file(const GraphsImport& import);

/// All of it. Columns of the result spill to `folder`.
graph::GraphStoreData import_graphs(const GraphsImport& import,
                                    const std::filesystem::path& folder);

}  // namespace kdgat::data
