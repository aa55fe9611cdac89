// JSON that others may have written: read only where it is nested no deeper than any that is meant.
// A hundred thousand brackets are valid JSON, but copying, comparing or writing what they make
// calls itself as often and runs out of stack.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kdgat/error.h"

namespace kdgat {

inline constexpr int kDeepestJson = 100;

/// Whether brackets outside of strings stand more than `most` deep; `text` need not be valid.
inline bool is_nested_deeper(std::string_view text, int most) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

/// What `text` holds; a discarded value if it is not valid JSON or nested too deeply.
inline nlohmann::json json_or_none(std::string_view text) {
  if (is_nested_deeper(text, kDeepestJson)) return nlohmann::json::value_t::discarded;
  return nlohmann::json::parse(text, nullptr, false);
}

/// What `text` holds, which stands at `where`. Throws Error(kData) with the reason.
inline nlohmann::json checked_json(std::string_view text, const std::string& where) {
  if (is_nested_deeper(text, kDeepestJson)) {
    throw Error(ExitCode::kData,
                "JSON nested deeper than " + std::to_string(kDeepestJson) + " levels", "", where);
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    throw Error(ExitCode::kData, std::string("not valid JSON: ") + e.what(), "", where);
  }
}

}  // namespace kdgat
