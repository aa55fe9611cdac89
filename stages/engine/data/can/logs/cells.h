// Cells: the cells of a row of a table, between a separator, quoted or not.
#pragma once

#include <string_view>

#include "engine/data/can/frames/row_fields.h"

namespace kdgat::data {

/// Allocates nothing. Blanks around a cell and the quotes around it are no part of it.
class Cells {
 public:
  Cells(std::string_view line, char separator) : rest_(line), separator_(separator) {}

  bool next(std::string_view& cell) {
    if (is_done_) return false;
    std::size_t from = 0;
    const std::size_t first = rest_.find_first_not_of(' ');
    const bool is_quoted = first != std::string_view::npos && rest_[first] == '"';
    if (is_quoted) {
      const std::size_t quote = rest_.find('"', first + 1);
      if (quote != std::string_view::npos) from = quote;
    }
    const std::size_t end = rest_.find(separator_, from);
    is_done_ = end == std::string_view::npos;
    cell = row::trim(rest_.substr(0, end));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
      cell = row::trim(cell.substr(1, cell.size() - 2));
    }
    if (!is_done_) rest_.remove_prefix(end + 1);
    return true;
  }

 private:
  std::string_view rest_;
  char separator_;
  bool is_done_ = false;
};

inline bool is_hex_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return row::hex(c) >= 0; });
}
inline bool has_hex_letter(std::string_view text) {
  return is_hex_text(text) && text.find_first_of("abcdefABCDEF") != std::string_view::npos;
}
inline bool has_prefix(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
}

/// What stands at the beginning of an id in hexadecimal, and behind one of 29 bits.
inline std::string_view bare_id(std::string_view text, bool& is_marked) {
  if (has_prefix(text)) text.remove_prefix(2);
  if (text.size() > 1 && (text.back() | 0x20) == 'h') text.remove_suffix(1);
  is_marked = text.size() > 1 && (text.back() | 0x20) == 'x';
  if (is_marked) text.remove_suffix(1);
  return text;
}

}  // namespace kdgat::data
