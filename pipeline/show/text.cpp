#include "pipeline/show/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <sstream>

#include "kdgat/text.h"

namespace kdgat {

std::string format_bytes(uint64_t bytes) {
  constexpr double kKi = 1024.0;
  const double value = static_cast<double>(bytes);
  if (value < kKi * kKi) return format_number("%.0f KiB", value / kKi);
  if (value < kKi * kKi * kKi) return format_number("%.0f MiB", value / kKi / kKi);
  return format_number("%.1f GiB", value / kKi / kKi / kKi);
}

std::string format_seconds(double seconds) {
  if (seconds < 59.95) return format_number("%.1f s", seconds);
  const int64_t whole = std::llround(seconds);
  const auto two_digits = [](int64_t number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + two_digits(whole % 60) + " s";
  }
  return std::to_string(whole / 3600) + " h " + two_digits(whole / 60 % 60) + " min";
}

std::string format_count(double value) {
  if (!std::isfinite(value)) return "nan";
  const double size = std::abs(value);
  const double step = size >= 1e4 ? std::pow(10.0, std::floor(std::log10(size)) - 3) : 1;
  return (value < 0 ? "-" : "") + grouped(std::llround(std::round(size / step) * step));
}

std::string short_number(double value) {
  constexpr double kExact = 9e15;  // every whole number below is a double of its own
  const bool is_whole = std::abs(value) < kExact && value == std::floor(value);
  return is_whole ? grouped(static_cast<int64_t>(value)) : format_number("%.4g", value);
}

std::optional<double> finite_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string> parts_of(const std::string& text, char mark) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, mark);) {
    if (!part.empty()) out.push_back(part);
  }
  return out;
}

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto is_inside = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t head = most / 2, tail = text.size() - most / 4;
  while (head > 0 && is_inside(head)) --head;
  while (is_inside(tail)) ++tail;
  return text.substr(0, head) + " ... (" + grouped(static_cast<int64_t>(tail - head)) +
         " bytes left out) ... " + text.substr(tail);
}

std::string value_text(const nlohmann::json& value) {
  if (value.is_number_float()) return format_number("%.12g", value.get<double>());
  if (!value.is_array())
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out = "[";
  for (const nlohmann::json& item : value) out += (out.size() > 1 ? ", " : "") + value_text(item);
  return out + "]";
}

std::string quoted_value(const nlohmann::json& value) {
  return shortened(value_text(value), kLongestValue);
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string nearest(const std::string& name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance =
      std::max<std::size_t>(1, name.size() / 3) + 1;  // further is no likeness
  for (const std::string& candidate : candidates) {
    // Optimal string alignment: insert, delete, replace, swap neighbours.
    std::vector<std::size_t> before, above(candidate.size() + 1), row(candidate.size() + 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    for (std::size_t i = 1; i <= name.size(); ++i) {
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const bool same = name[i - 1] == candidate[j - 1];
        row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
        if (i > 1 && j > 1 && name[i - 1] == candidate[j - 2] && name[i - 2] == candidate[j - 1]) {
          row[j] = std::min(row[j], before[j - 2] + 1);
        }
      }
      before = above;
      above = row;
    }
    if (above.back() < best_distance) {
      best_distance = above.back();
      best = candidate;
    }
  }
  if (!best.empty()) return best;
  // What ends or begins like it: epochs is max_epochs, --split is --data.split.
  const std::string word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  for (const std::string& candidate : candidates) {
    if (word.size() < 3 || candidate.size() <= word.size()) continue;
    const std::size_t rest = candidate.size() - word.size();
    const bool ends = candidate.compare(rest, word.size(), word) == 0 &&
                      std::string("_.- ").find(candidate[rest - 1]) != std::string::npos;
    const bool begins = candidate.compare(0, name.size(), name) == 0;
    if (ends || begins) return candidate;
  }
  return "";
}

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::istringstream words(text);
  std::string out, word;
  std::size_t column = indent;
  while (words >> word) {
    if (column > indent && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string printable(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_wide = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F
    if (is_wide) ++i;
    const bool is_control = is_wide || byte == 0x7F || (byte < ' ' && byte != '\n' && byte != '\t');
    out += is_control ? '?' : text[i];
    const bool begins_line = byte == '\n' && i + 1 < text.size();
    if (begins_line && next != ' ' && next != '\t' && next != '\n') out += "  ";
  }
  return out;
}

std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    const bool is_blank = c == '\n' || c == '\t' || c == ' ';
    const bool follows_line = is_blank && !out.empty() && out.back() == '\n';
    if (c == '\n' || !follows_line) out += c;
  }
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

}  // namespace kdgat
