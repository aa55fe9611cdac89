// Numbers as people read them, for summaries and log lines.
#pragma once

#include <cstdio>
#include <string>

namespace kdgat::train {

/// `format` for one double, e.g. "%.3f".
inline std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// 38200 -> "38,200"
inline std::string with_commas(double value) {
  std::string text = number("%.0f", value);
  for (auto at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

}  // namespace kdgat::train
