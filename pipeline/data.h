// The host's only door to graph data (includes stages/graph in data.cpp alone): the `data` verb and
// what a run needs to know of its input.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/profile.h"

namespace kdgat {

struct PreparedData {
  std::filesystem::path folder;   ///< holds graphs.safetensors and split.safetensors
  std::string fingerprint;        ///< content of the store and of the split
  nlohmann::json facts;           ///< of the graph store, and "parts": {"train": n, "val": n, ...}
  std::string summary;            ///< one line: "3 files, 1,412 windows (167 attack)"
  std::vector<Diagnostic> warnings;
  bool reused = false;
};

/// Schemas of the profile's `data:` and `synth:` sections (see graph/import.h, graph/synth.h).
SectionSchemas data_schemas();

/// The folder under <root>/<dataset>/data/ where this input's import stands or will stand; the same
/// for the same files and options. Reads names, sizes and times only. Throws Error(kData) if the
/// input does not exist.
std::filesystem::path data_folder(const DataSpec& data, const std::filesystem::path& dataset_root);

/// What is already imported, without importing; nullopt if nothing is.
std::optional<PreparedData> find_prepared(const std::filesystem::path& folder);

/// Imports (or synthesises, then imports) unless it is there. `progress(done, total)` in bytes.
PreparedData prepare_data(const DataSpec& data, const std::filesystem::path& folder,
                          const std::function<void(int64_t, int64_t)>& progress,
                          const std::function<bool()>& cancelled);

}  // namespace kdgat
