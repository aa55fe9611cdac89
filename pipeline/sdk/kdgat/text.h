// Numbers and names as people read them, of the host and of stages alike: for summaries, messages,
// tables and pages. Files of an exact form are written elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace kdgat {

/// `format` as printf takes it, for one double: "%.3f", "%+.1f %%".
inline std::string format_number(const char* format, double value) {
  char text[400];  // the largest double has 309 digits before its point
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// 1,412
inline std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  const int64_t first = number < 0 ? 1 : 0;
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

namespace detail {

/// Bytes of the character of UTF-8 that `text`, which is not empty, begins with; 0 = it is none.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80                       ? 1
                             : byte(0) >= 0xC2 && byte(0) <= 0xDF ? 2
                             : (byte(0) & 0xF0) == 0xE0           ? 3
                             : byte(0) >= 0xF0 && byte(0) <= 0xF4 ? 4
                                                                  : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Forms that are longer than they need be, surrogates, and what is above U+10FFFF.
  const bool is_wrong =
      length > 1 && ((byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xED && byte(1) > 0x9F) ||
                     (byte(0) == 0xF0 && byte(1) < 0x90) || (byte(0) == 0xF4 && byte(1) > 0x8F));
  return is_wrong ? 0 : length;
}

}  // namespace detail

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = detail::utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// The name of a file, which may be any bytes, as text in UTF-8: bytes that are none, and control
/// characters, as \xE9.
inline std::string escaped_name(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t length = detail::utf8_length(name);
    const auto first = static_cast<unsigned char>(name.front());
    if (length == 0 || first < 32 || first == 127) {
      out += "\\x";
      for (const int half : {first >> 4, first & 15}) out += "0123456789ABCDEF"[half];
      name.remove_prefix(1);
    } else {
      out += name.substr(0, length);
      name.remove_prefix(length);
    }
  }
  return out;
}

/// "0.3 MiB", "5120.0 MiB": small and large sizes that stand beside each other.
template <class Number>
std::string mebibytes(const Number& bytes) {
  return format_number("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

/// A field of a CSV line: in quotes where it holds a comma, a quote or the end of a line.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace kdgat
