#include "pipeline/show/markup.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "kdgat/text.h"

namespace kdgat {
namespace {

/// Valid UTF-8, as the writer of JSON knows it.
std::string as_utf8(const std::string& text) {
  using nlohmann::json;
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  if (is_plain) return text;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

/// "1,412", "0.941", "142 (78.9 %)", "6.1 s": what belongs at the right of its column.
bool is_numeric(const std::string& cell) {
  if (cell.empty()) return true;
  if (cell.find("<svg") != std::string::npos) return false;
  std::string digits;
  bool is_tag = false;
  for (const char c : cell) {
    is_tag = is_tag || c == '<';
    if (!is_tag && c != ',') digits += c;
    is_tag = is_tag && c != '>';
  }
  char* end = nullptr;
  std::strtod(digits.c_str(), &end);
  const std::string rest = end;
  constexpr std::size_t kLongestUnit = 10;
  return end != digits.c_str() &&
         (rest.empty() || (rest.front() == ' ' && rest.size() <= kLongestUnit));
}

}  // namespace

std::string pixels(double value) { return format_number("%.1f", value); }

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : as_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        const bool is_control = (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
        out += is_control ? "\uFFFD" : std::string(1, c);
    }
  }
  return out;
}

std::string element(const std::string& tag, const std::string& inner,
                    const std::string& attributes) {
  return "<" + tag + (attributes.empty() ? "" : " ") + attributes + ">" + inner + "</" + tag + ">";
}

std::string MarkupTable::html() const {
  if (rows.empty()) return "";
  std::vector<bool> numbers(columns.size(), true);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < std::min(row.size(), columns.size()); ++i) {
      numbers[i] = numbers[i] && is_numeric(row[i]);
    }
  }
  const auto cell = [&](const std::string& tag, const std::string& inner, std::size_t i,
                        const std::string& scope) {
    const bool is_number = i < numbers.size() && numbers[i];
    const std::string gap = is_number && !scope.empty() ? " " : "";
    return element(tag, inner, scope + gap + (is_number ? "class=\"n\"" : ""));
  };
  std::string head, body;
  // A heading without words is none, as programs that read pages aloud see it.
  const auto heading = [&](const std::string& inner, std::size_t i, const char* scope) {
    return inner.empty() ? cell("td", inner, i, "") : cell("th", inner, i, scope);
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    head += heading(columns[i], i, "scope=\"col\"");
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? heading(row[i], i, "scope=\"row\"") : cell("td", row[i], i, "");
    }
    body += element("tr", line) + "\n";
  }
  return "<div class=\"scroll\" tabindex=\"0\"><table>" +
         (caption.empty() ? "" : element("caption", element("span", caption))) +
         element("thead", element("tr", head)) + "<tbody>\n" + body + "</tbody></table></div>\n";
}

}  // namespace kdgat
