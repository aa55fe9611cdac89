// Reading of JSON that others wrote: what is absent or of another type is not there.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace kdgat {

/// What stands in a file; null if it is not there or no JSON.
inline nlohmann::json read_json(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return {};
  std::ifstream in(file, std::ios::binary);
  nlohmann::json content = nlohmann::json::parse(in, nullptr, false);
  return content.is_discarded() ? nlohmann::json() : content;
}

/// What stands below a key; null where there is none.
inline nlohmann::json below(const nlohmann::json& from, const std::string& key) {
  return from.is_object() ? from.value(key, nlohmann::json()) : nlohmann::json();
}

/// The text below a key; "" where there is none.
inline std::string word(const nlohmann::json& from, const std::string& key) {
  const nlohmann::json found = below(from, key);
  return found.is_string() ? found.get<std::string>() : "";
}

/// The number below a key; `otherwise` where there is none.
inline double number(const nlohmann::json& from, const std::string& key, double otherwise = -1) {
  const nlohmann::json found = below(from, key);
  return found.is_number() ? found.get<double>() : otherwise;
}

}  // namespace kdgat
