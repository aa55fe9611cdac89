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
#include "data/ratings/ratings_options.h"
#include "data/space/spatial_options.h"
#include "data/texts/text_options.h"
#include "graph/graph_store.h"
#include "kdgat/options.h"

namespace kdgat::graph {

/// What the option `format` may be: "auto", then the forms of logs and of all other data.
std::vector<std::string> import_formats();

/// The profile's `data:` section and the key=value words of `kdgat data import`.
struct ImportOptions : SpatialOptions, TextOptions, RatingsOptions {
  std::string format = "auto";
  int64_t window = 100;
  int64_t stride = 100;
  int64_t chunk_rows = 0;
  std::string features = "v2";
  std::string vocabulary = "train";
  std::vector<std::string> exclude = {"suppress", "masquerade"};
  bool deduplicate = true;
  std::string assume;  ///< "" or "benign": the label of rows without one
  bool strict = false;
  std::string split = "time";
  double val_fraction = 0.2;
  double test_fraction = 0.2;
  int64_t seed = 42;
  int64_t folds = 0;
  int64_t fold = 0;

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
        field("assume", &O::assume, "Label of rows without one.").choices({"", "benign"}),
        field("strict", &O::strict, "A malformed line is an error, not counted and skipped."),
        field(
            "split", &O::split,
            "time: blocks of each file, no leak; random: seeded shuffle; group: whole files or "
            "neurons, what time means for graphs in space. Of texts random is a shuffle, time the "
            "same share of every class.")
            .choices({"time", "random", "group"}),
        field("val_fraction", &O::val_fraction, "Share of training windows kept for validation.")
            .range(0.0, 0.9),
        field("test_fraction", &O::test_fraction,
              "Share kept for testing where the data has no test folders.")
            .range(0.0, 0.9),
        field("seed", &O::seed, "Seed of the split.").alias("split_seed").alias("random_seed"),
        field("folds", &O::folds, "split=group: so many folds; 0 = by test_fraction.")
            .range(0, 1000),
        field("fold", &O::fold, "split=group: the fold that is the test part, from 0.")
            .range(0, 999)};
    return std::tuple_cat(std::move(own), SpatialOptions::table(), TextOptions::table(),
                          RatingsOptions::table());
  }

  SplitOptions split_options() const {
    return {split, val_fraction, test_fraction, seed, folds, fold};
  }
  std::vector<Diagnostic> validate() const;
};

/// All options that decide what an import of logs, of graphs in space, of texts or of ratings
/// gives; without those of the others, so that these may change without making anything again.
nlohmann::json import_identity(const ImportOptions& options, DataKind kind);

/// What an import did, for the user: one line a file, problems with file:line.
struct ImportReport {
  std::vector<Source> sources;
  std::vector<Diagnostic>
      warnings;  ///< first malformed lines, time going backwards, left-out files, repairs
  int64_t rows = 0;
  int64_t graphs = 0;
  bool reused = false;  ///< the store was already there, with the same inputs and options
  /// Of texts that were read: {"read_seconds","graph_seconds": of the first pass and
  /// "write_seconds": of the second, "text_bytes","threads","peak_resident_bytes",
  /// "resident_before_bytes"}.
  nlohmann::json build;
};

using ImportProgress = std::function<void(int64_t bytes_done, int64_t bytes_total)>;

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
