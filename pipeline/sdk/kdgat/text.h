// Numbers as people read them, of the host and of stages alike: for summaries, messages, tables and
// pages. Files of an exact form are written elsewhere.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

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

/// "0.3 MiB", "5120.0 MiB": small and large sizes that stand beside each other.
template <class Number>
std::string mebibytes(const Number& bytes) {
  return format_number("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace kdgat
