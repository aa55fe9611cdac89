#include "pipeline/system/json_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "kdgat/error.h"
#include "kdgat/parse_json.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What nlohmann says without its "[json.exception...] parse error at line 3, column 5:".
std::string message_of(const std::string& what) {
  const std::size_t column = what.find("column ");
  const std::size_t colon = column == std::string::npos ? column : what.find(": ", column);
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

}  // namespace

std::optional<std::string> file_text(const fs::path& file, std::uintmax_t most) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;  // reading a folder throws
  if (fs::file_size(file, ignored) > most) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::string out;
  char block[1 << 14];
  while (in.read(block, sizeof block), in.gcount() > 0) {
    out.append(block, static_cast<std::size_t>(in.gcount()));
  }
  return out;
}

json parse_json(const std::string& text, const std::string& name) {
  if (is_nested_deeper(text, kDeepestJson)) {
    throw Error(ExitCode::kData,
                "JSON nested deeper than " + std::to_string(kDeepestJson) + " levels", "", name);
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    const std::size_t end = std::min(e.byte, text.size());
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    throw Error(ExitCode::kData, "not valid JSON: " + message_of(e.what()), "",
                name + ":" + std::to_string(line));
  }
}

json load_object(const fs::path& file) {
  const auto refuse = [&](const char* why) {
    throw Error(ExitCode::kData, why, "", file.string());
  };
  const std::optional<std::string> text = file_text(file);
  std::error_code ignored;
  if (!text && fs::is_regular_file(file, ignored) && fs::file_size(file, ignored) > kLargestText) {
    refuse("larger than 64 MiB");
  }
  if (!text) refuse(fs::exists(file, ignored) ? "cannot be read" : "no such file");
  json content = parse_json(*text, file.string());
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
