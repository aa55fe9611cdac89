// From log files, or graphs in space, to a graph store and a split, or from texts to a graph of
// documents and words, or from ratings to that of users and items: the whole of `kdgat data
// import`. No LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "data/data_kind.h"
#include "data/import_options.h"
#include "data/import_report.h"
#include "data/ratings/ratings_options.h"
#include "data/space/spatial_options.h"
#include "data/texts/text_options.h"
#include "graph/graph_store.h"
#include "kdgat/options.h"

namespace kdgat::graph {

/// What the option `format` may be: "auto", then the forms of logs and of all other data.
std::vector<std::string> import_formats();

/// The profile's `data:` section and the key=value words of `kdgat data import`.
struct ImportOptions : SharedOptions, SpatialOptions, TextOptions, RatingsOptions {
  int64_t window = 100;
  int64_t stride = 100;
  int64_t chunk_rows = 0;
  std::string features = "v2";
  std::string vocabulary = "train";
  std::vector<std::string> exclude = {"suppress", "masquerade"};
  bool deduplicate = true;
  std::string assume;  ///< "" or "benign": the label of rows without one

  static auto table() {
    using O = ImportOptions;
    auto own = std::tuple{
        field("format", &O::format, "Form of the input; auto recognises it.")
            .choices(import_formats()),
        field("window", &O::window, "Rows of one graph.").alias("window_size").range(2, 1 << 20),
        field("stride", &O::stride, "Rows between the starts of two windows.").range(1, 1 << 20),
        field("chunk_rows", &O::chunk_rows,
              "Published chunk rule: the last row of every so many rows is dropped; 0 = off.")
            .range(0, 1 << 30),
        field("features", &O::features, "Feature set: 11 node and 11 edge features.")
            .choices({"v2"}),
        field("vocabulary", &O::vocabulary, "Files whose ids make the vocabulary.")
            .choices({"train"}),
        field("exclude", &O::exclude, "Files whose name contains one of these words are left out."),
        field("deduplicate", &O::deduplicate,
              "Read a training file once that stands in several training folders."),
        field("assume", &O::assume, "Label of rows without one.").choices({"", "benign"})};
    return std::tuple_cat(std::move(own), SharedOptions::table(), SpatialOptions::table(),
                          TextOptions::table(), RatingsOptions::table());
  }

  std::vector<Diagnostic> validate() const;
};

/// All options that decide what an import of logs, of graphs in space, of texts or of ratings
/// gives; without those of the others, so that these may change without making anything again.
nlohmann::json import_identity(const ImportOptions& options, DataKind kind);

/// Reads `source` (a log file, a folder in the published layout, a folder of logs, "-" for standard
/// input, graphs in space: see spatial_import.h) into `<out>/graphs.safetensors` and
/// `<out>/split.safetensors`, or texts (text_import.h) or ratings (ratings_import.h) into the
/// former alone, see text_store.h and ratings_store.h. Atomic: two processes may import to the same
/// place. Throws Error(kData) for bad input, Error(kUsage) for bad options. `cancelled` is asked
/// now and then; when it answers true the import throws Error(kInterrupted).
ImportReport import_logs(const std::filesystem::path& source, const std::filesystem::path& out,
                         const ImportOptions& options, const ImportProgress& progress = {},
                         const std::function<bool()>& cancelled = {});

/// Hash of what an import of `source` depends on: names, sizes and mtimes of its files and the
/// options. A graph store (file or folder with graphs.safetensors) answers its content hash.
std::string import_fingerprint(const std::filesystem::path& source, const ImportOptions& options);

}  // namespace kdgat::graph
