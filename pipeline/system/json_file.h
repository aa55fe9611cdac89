// Files of JSON, read in one way. Knows nothing of what stands in them; how they are written is
// their writer's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kdgat/small_file.h"

namespace kdgat {

/// The text of a file; none if it is no regular file, cannot be read or is larger than `largest`.
/// Who only looks whether a word stands in it needs no more, in a tenth of the time that reading it
/// as JSON takes.
std::optional<std::string> file_text(const std::filesystem::path& file,
                                     std::size_t largest = kLargestJson);

/// The object in a file that must be there. Throws Error(kData) at the file, and its line where the
/// text is not valid, also if it is larger than kLargestJson.
nlohmann::json load_object(const std::filesystem::path& file);

/// What stands in a file; null if it is not there or refused by checked_json().
nlohmann::json read_json(const std::filesystem::path& file);
/// The object in a file; an empty one if there is none.
nlohmann::json read_object(const std::filesystem::path& file);

}  // namespace kdgat
