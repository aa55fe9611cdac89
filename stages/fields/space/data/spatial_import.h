// From files of graphs in space to the arrays of a store: neurons (SWC), tables of points, and
// spatial graphs of other programs (safetensors).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/core/dataset_files.h"
#include "engine/file/safetensors.h"
#include "engine/graph/graph_store.h"
#include "fields/space/data/labels.h"
#include "fields/space/data/spatial_options.h"

namespace kdgat::space {

/// "swc", "superpixel" and "spatial-graphs", as the option `format` names them.
const std::vector<std::string>& spatial_formats();

/// Whether a file of this name, without folders, is taken for a neuron.
bool is_swc_name(const std::string& name);
/// Columns that make a CSV a table of points; also "z", and any others as features.
inline constexpr const char* kPointColumns[] = {"graph", "x", "y"};
/// A safetensors file with pos and edge_index that is no graph store.
bool is_spatial_graphs(const file::SafetensorsFile& file);

struct SpatialSource {
  std::string format;
  std::vector<data::LogFile> files;
  std::filesystem::path labels;  ///< empty = none
  bool is_sure = true;           ///< false of an archive that seems to hold something else
};

/// What `source` holds, if that are graphs in space: an .swc file, a tar archive or a folder of
/// such files; a CSV with columns graph, x and y, or a folder with centroids.csv; a safetensors
/// file with pos and edge_index that is no store. Nothing for logs, and where `format` is neither
/// "auto" nor one of spatial_formats(). Reads no more than a header. Throws Error(kData) if what
/// `format` names is not there.
std::optional<SpatialSource> find_spatial_source(const std::filesystem::path& source,
                                                 const std::string& format,
                                                 const SpatialOptions& options);

/// What an import reads, and where it reports to.
struct SpatialImport {
  const SpatialSource& input;
  const SpatialOptions& options;
  std::function<bool()> cancelled;          ///< may be empty
  std::function<void(int64_t bytes)> done;  ///< of a file, so many more; throws to end the import
  data::Notes& warnings;
  /// Of `input.labels`, by the column `key`.
  Labels labels(const std::string& key) const;
};

/// Throws Error(kData) with the places, "file:line", of what is wrong.
graph::GraphStoreData import_spatial(const SpatialImport& import);
graph::GraphStoreData import_neurons(const SpatialImport& import);  ///< see swc.h, subtrees.h
graph::GraphStoreData import_points(const SpatialImport& import);   ///< see points.cpp
graph::GraphStoreData import_spatial_graphs(
    const SpatialImport& import);  ///< see spatial_graphs.cpp

}  // namespace kdgat::space
