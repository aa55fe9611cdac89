// The host's only door to graph data, as no other room includes stages/: the `data` verb and what a
// run needs to know of its input.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/profile/profile.h"

namespace kdgat {

struct PreparedData {
  std::filesystem::path folder;  ///< holds graphs.safetensors and split.safetensors; of texts
                                 ///< and ratings the former alone
  std::string fingerprint;       ///< content of the store and of the split
  nlohmann::json facts;          ///< of the graph store, and "parts": {"train": n, "val": n, ...}
  std::string summary;           ///< one line: "3 files, 1,412 windows (167 attack)"
  std::vector<Diagnostic> warnings;
  bool reused = false;
};

/// Schemas of the profile's `data:` and `synth:` sections (see data/import.h, data/synth.h).
SectionSchemas data_schemas();

/// The folder under <root>/<dataset>/data/ where this input's import stands or will stand; the same
/// for the same files and options. Reads names, sizes and times only. Throws Error(kData) if the
/// input does not exist.
std::filesystem::path data_folder(const DataSpec& data, const std::filesystem::path& dataset_root);

/// What is already imported, without importing; nullopt if nothing is.
std::optional<PreparedData> find_prepared(const std::filesystem::path& folder);

using DataProgress = std::function<void(int64_t done, int64_t total)>;  ///< in bytes

/// Imports (or synthesises, then imports) unless it is there.
/// A graph store is linked, not copied; its own split is kept unless the profile sets one. Throws
/// Error(kData) for bad input, Error(kUsage) for bad options and for import options that a given
/// store was not made with, Error(kInterrupted) once `cancelled` answers true (nothing is left).
PreparedData prepare_data(const DataSpec& data, const std::filesystem::path& folder,
                          const DataProgress& progress, const std::function<bool()>& cancelled);

/// `kdgat data import`: {"folder","reused","rows","graphs","attack","sources":[..],"parts":{..},
/// "warnings":[{"where","message","hint"}]}, of graphs in space also "spatial" (see
/// GraphStore::facts), of texts "text" (TextStore::facts), of ratings
/// "ratings" (RatingStore::facts), and "build" if they were read
/// (ImportReport). `options` by canonical name.
nlohmann::json import_data(const std::filesystem::path& source, const std::filesystem::path& folder,
                           const nlohmann::json& options, const DataProgress& progress,
                           const std::function<bool()>& cancelled);

/// `kdgat data inspect`: {"path","content_hash","facts","options","files":[{"name",counts}],
/// "parts":{name:counts}} where counts are {"graphs","attack","benign","unlabelled","ids",
/// "nodes":{"p50","p95","p99","max"},"edges":{same}}, of graphs in space "classes" (graphs of each)
/// in the place of attack, benign and ids; files also "rows","malformed","format". Of texts see
/// data_text.h, of ratings data_ratings.h. A log or folder of logs is imported to a temporary place
/// first, with `options`.
nlohmann::json inspect_data(const std::filesystem::path& path, const nlohmann::json& options,
                            const DataProgress& progress, const std::function<bool()>& cancelled);

/// `kdgat data verify`: every problem of a store and, for a folder, of its split; empty when sound.
/// Throws Error(kData) if there is no store.
std::vector<Diagnostic> verify_data(const std::filesystem::path& path);

/// `kdgat data synth`: writes logs, graphs in space, texts or ratings; the names of the files,
/// relative to `folder`.
std::vector<std::string> synthesize_data(const std::filesystem::path& folder,
                                         const nlohmann::json& options,
                                         const std::function<bool()>& cancelled);

}  // namespace kdgat
