#include "pipeline/system/json_file.h"

#include <utility>

#include "kdgat/error.h"
#include "kdgat/parse_json.h"

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;

std::optional<std::string> file_text(const fs::path& file, std::size_t largest) {
  try {
    return small_file(file, largest);
  } catch (const Error&) {
    return std::nullopt;
  }
}

json load_object(const fs::path& file) {
  const auto refuse = [&](const char* why) {
    throw Error(ExitCode::kData, why, "", file.string());
  };
  std::error_code ignored;
  if (!fs::exists(file, ignored)) refuse("no such file");
  json content = checked_json_file(file);
  if (!content.is_object()) refuse("not a JSON object");
  return content;
}

json read_json(const fs::path& file) {
  const std::optional<std::string> text = file_text(file);
  if (!text) return {};
  json content = json_or_none(*text);
  return content.is_discarded() ? json() : content;
}

json read_object(const fs::path& file) {
  json content = read_json(file);
  return content.is_object() ? content : json::object();
}

}  // namespace kdgat
