// Names of files may be any bytes, and strings of JSON are UTF-8. Where a name has to be opened by
// whoever reads the JSON, it is written in a form that can be taken back: a byte that is no part of
// a character becomes \u0000 and two hexadecimal digits. No name of a file holds \u0000, and one
// that stands in a string is written in the same way. Strings of UTF-8 stay as they are.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kdgat/text.h"

namespace kdgat {
namespace detail {

inline bool is_exact(std::string_view text) {
  return text.find('\0') == std::string_view::npos && is_utf8(text);
}

inline std::string to_exact(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = text.front() == '\0' ? 0 : utf8_length(text);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text.front());
      out += '\0';
      for (const int half : {byte >> 4, byte & 15}) out += "0123456789ABCDEF"[half];
    }
    out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

inline std::string from_exact(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '\0' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : hex_digit(text[i + 2]);
    out += low < 0 ? text[i] : static_cast<char>(high * 16 + low);
    if (low >= 0) i += 2;
  }
  return out;
}

/// Changes each string, names of members among them, that `change` has to do with.
template <class Wants, class Change>
void change_strings(nlohmann::json& value, const Wants& wants, const Change& change) {
  if (auto* text = value.get_ptr<std::string*>()) {
    if (wants(*text)) *text = change(*text);
  } else if (auto* list = value.get_ptr<nlohmann::json::array_t*>()) {
    for (nlohmann::json& one : *list) change_strings(one, wants, change);
  } else if (auto* object = value.get_ptr<nlohmann::json::object_t*>()) {
    std::vector<std::string> names;
    for (auto& [name, one] : *object) {
      change_strings(one, wants, change);
      if (wants(name)) names.push_back(name);
    }
    for (const std::string& name : names) {
      auto member = object->extract(name);
      member.key() = change(name);
      object->insert(std::move(member));
    }
  }
}

}  // namespace detail

/// The same value with all strings in the form above.
inline nlohmann::json exact_form(nlohmann::json value) {
  detail::change_strings(
      value, [](const std::string& text) { return !detail::is_exact(text); }, detail::to_exact);
  return value;
}

/// JSON of it in one line.
inline std::string exact_dump(nlohmann::json value) { return exact_form(std::move(value)).dump(); }

/// Takes that form back, in place.
inline void restore_exact(nlohmann::json& value) {
  detail::change_strings(
      value, [](const std::string& text) { return text.find('\0') != std::string::npos; },
      detail::from_exact);
}

/// What exact_dump() wrote. Throws nlohmann::json::parse_error where it is no JSON.
inline nlohmann::json exact_parse(std::string_view text) {
  nlohmann::json out = nlohmann::json::parse(text);
  if (text.find("\\u0000") != std::string_view::npos) restore_exact(out);
  return out;
}

}  // namespace kdgat
