// The beginning of a text, from which its form is recognised.
#pragma once

#include <algorithm>
#include <string_view>

#include "engine/data/can/frames/row_fields.h"

namespace kdgat::data {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The next line without its end, taken from `text`.
inline std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Whether a line, or a word at its beginning, begins a comment: one list for all texts.
inline bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with(';') || line.starts_with("//");
}

/// `text` from the first line on that fits none of what may stand ahead of a form.
template <class IsAhead>
std::string_view without(std::string_view text, IsAhead is_ahead) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    std::string_view rest = text;
    if (!is_ahead(row::trim(next_line(rest)))) break;
    text = rest;
  }
  return text;
}

/// Without a byte order mark and blank lines.
inline std::string_view without_blanks(std::string_view text) {
  return without(text, [](std::string_view line) { return line.empty(); });
}
/// Also without comments.
inline std::string_view without_comments(std::string_view text) {
  return without(text, [](std::string_view line) { return line.empty() || is_comment(line); });
}

}  // namespace kdgat::data
