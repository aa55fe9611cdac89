// Files of JSON, read in one way. Knows nothing of what stands in them; how they are written is
// their writer's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace kdgat {

/// What a run keeps in one file of JSON or of text is far smaller: others are not read.
inline constexpr std::uintmax_t kLargestText = std::uintmax_t{64} << 20;

/// The text of a file; none if it is no file, larger than `most` or cannot be read. Who only looks
/// whether a word stands in it needs no more, in a tenth of the time that reading it as JSON takes.
std::optional<std::string> file_text(const std::filesystem::path& file,
                                     std::uintmax_t most = kLargestText);

/// What `text`, the content of a file shown as `name`, holds. Throws Error(kData) at name:line if
/// it is not valid JSON, or nested deeper than kDeepestJson.
nlohmann::json parse_json(const std::string& text, const std::string& name);

/// The object in a file that must be there. Throws Error(kData) at the file, and its line where the
/// text is not valid.
nlohmann::json load_object(const std::filesystem::path& file);

/// What stands in a file; null if it is not there, not valid JSON or nested too deeply.
nlohmann::json read_json(const std::filesystem::path& file);
/// The object in a file; an empty one if there is none.
nlohmann::json read_object(const std::filesystem::path& file);

}  // namespace kdgat
