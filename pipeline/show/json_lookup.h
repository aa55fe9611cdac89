// Reading of JSON that others wrote: what is absent or of another type is not there.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace kdgat {

/// What stands below a key, a part of `from`; null where there is none.
inline const nlohmann::json& below(const nlohmann::json& from, const std::string& key) {
  static const nlohmann::json none;
  if (!from.is_object()) return none;
  const auto found = from.find(key);
  return found == from.end() ? none : *found;
}

/// The text below a key; "" where there is none.
inline std::string word(const nlohmann::json& from, const std::string& key) {
  const nlohmann::json& found = below(from, key);
  return found.is_string() ? found.get<std::string>() : "";
}

/// The number below a key; `otherwise` where there is none.
inline double number(const nlohmann::json& from, const std::string& key, double otherwise = -1) {
  const nlohmann::json& found = below(from, key);
  return found.is_number() ? found.get<double>() : otherwise;
}

/// The same; none where there is none.
inline std::optional<double> number_there(const nlohmann::json& from, const std::string& key) {
  const nlohmann::json& found = below(from, key);
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

}  // namespace kdgat
