// Numbers in text, and how a word of a file is shown in a message.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace kdgat::file {

/// The whole word as a number, "nan" and "inf" among them; nothing where it is none.
inline std::optional<double> number_in(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// At most 40 characters, those that a terminal may not print replaced.
inline std::string shown(std::string_view word) {
  std::string out(word.substr(0, 40));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
  }
  return out;
}

}  // namespace kdgat::file
