// Graphs of texts, for pipeline/data alone: they stand in one file, with their parts in it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "pipeline/data/data.h"

namespace kdgat {

/// Whether `store`, a file, is such a graph. Throws Error(kData) if it is missing or damaged.
bool is_text_store(const std::filesystem::path& store);

/// As prepare_data() gives it.
PreparedData open_prepared_text(const std::filesystem::path& store);

/// inspect_data(): "facts", "options", "files":[Source], "parts":{name:{"documents","classes"}},
/// "memory":{"cached_bytes": of the mapping, "splits": parts that are not empty, "saved_bytes",
/// "saved_share": by sharing it, "coo_bytes": as pairs of int64 and float32, "identity_bytes": of
/// N x N features, which are never allocated}.
nlohmann::json inspect_text_store(const std::filesystem::path& store);

std::vector<Diagnostic> verify_text_store(const std::filesystem::path& store);

}  // namespace kdgat
