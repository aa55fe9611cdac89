// Words for people: sizes, times and counts, values as they are written, texts that fit their
// place, names that are meant. Knows no terminal; numbers alone are those of kdgat/text.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kdgat {

/// "118 MiB", "18.2 GiB".
std::string format_bytes(uint64_t bytes);

/// "6.1 s", "3 min 20 s", "2 h 05 min".
std::string format_seconds(double seconds);
/// "38,200", a rate or another large number that was measured: four significant digits. What was
/// counted is written whole, by grouped().
std::string format_count(double value);
/// A number whatever it is: a whole one whole, "271,027", any other with four significant digits.
std::string short_number(double value);

/// The finite number that a text is, and nothing else.
std::optional<double> finite_number(const std::string& text);

/// At most about `most` bytes of a text, for messages: its beginning and its end, and how much is
/// left out between. No character is cut.
std::string shortened(const std::string& text, std::size_t most);
/// Of a message, and of one value in it.
inline constexpr std::size_t kLongestMessage = 2000, kLongestValue = 200;

/// As written: 0, "fast", [1, 2].
std::string value_text(const nlohmann::json& value);
/// The same in a message, where a long one is shortened.
std::string quoted_value(const nlohmann::json& value);

/// What is between the marks, without empty parts.
std::vector<std::string> parts_of(const std::string& text, char mark);

/// "a, b, c" with ", " between them.
std::string joined(const std::vector<std::string>& words, const std::string& between);

/// The closest of `candidates` by edit distance; "" when none is close.
std::string nearest(const std::string& name, const std::vector<std::string>& candidates);

/// Columns a text takes on a terminal: bytes that continue a UTF-8 character take none.
std::size_t text_width(const std::string& text);
/// `text` broken at spaces to fit `width` columns, every line after the first indented by `indent`.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width = 100);
/// A text whose control bytes are '?', lines and tabs apart: no name may steer the terminal. A line
/// that begins without a blank is moved in by two: no name may pass for a message of its own.
std::string printable(const std::string& text);
/// The same in one line.
std::string one_line(const std::string& text);

}  // namespace kdgat
