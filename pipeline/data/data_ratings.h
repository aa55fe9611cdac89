// Graphs of ratings, for pipeline/data alone: they stand in one file, with their parts in it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/data/data.h"

namespace kdgat {

/// Whether `store`, a file, is such a graph. Throws Error(kData) if it is missing or damaged.
bool is_rating_store(const std::filesystem::path& store);

/// As prepare_data() gives it.
PreparedData open_prepared_ratings(const std::filesystem::path& store);

/// inspect_data(): "facts", "options", "files":[Source], "parts":{name:{"ratings","users","items",
/// "mean","cold_users","cold_items": those of the part with less than 17, or 10, ratings in train,
/// but not those with none}}, "memory":{"mapped_bytes"}.
nlohmann::json inspect_rating_store(const std::filesystem::path& store);

std::vector<Diagnostic> verify_rating_store(const std::filesystem::path& store);

}  // namespace kdgat
