#include "pipeline/show/table_fit.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "pipeline/show/text.h"

namespace kdgat {
namespace {

constexpr std::size_t kGap = 2;
/// A column of words is not made narrower than this.
constexpr std::size_t kNarrow = 14;

std::size_t total(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
         (widths.empty() ? 0 : kGap * (widths.size() - 1));
}

/// Bytes of the first `width` characters.
std::size_t bytes_of(const std::string& text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t columns = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && columns++ == width) break;
  }
  return at;
}

}  // namespace

std::vector<std::string> cell_lines(const std::string& text, std::size_t width) {
  if (text_width(text) <= width) return {text};
  std::vector<std::string> lines;
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && text_width(line) + 1 + text_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    while (text_width(line) > width) {
      const std::size_t end = bytes_of(line, width);
      lines.push_back(line.substr(0, end));
      line.erase(0, end);
    }
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::size_t> narrowed(std::vector<std::size_t> widths,
                                  const std::vector<bool>& may_wrap, std::size_t most) {
  while (total(widths) > most) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (may_wrap[i] && widths[i] > kNarrow &&
          (widest == widths.size() || widths[i] > widths[widest])) {
        widest = i;
      }
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  for (std::size_t& width : widths) width = std::min(width, most);
  return widths;
}

std::vector<std::vector<std::size_t>> blocks_of(const std::vector<std::size_t>& widths,
                                                std::size_t most) {
  std::vector<std::vector<std::size_t>> blocks;
  std::size_t room = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const bool fits = !blocks.empty() && room + kGap + widths[i] <= most;
    if (i > 0 && !fits) {
      const bool repeats = widths[0] + kGap + widths[i] <= most;
      blocks.push_back(repeats ? std::vector<std::size_t>{0, i} : std::vector<std::size_t>{i});
      room = (repeats ? widths[0] + kGap : 0) + widths[i];
    } else if (i == 0) {
      blocks.push_back({0});
      room = widths[0];
    } else {
      blocks.back().push_back(i);
      room += kGap + widths[i];
    }
  }
  return blocks;
}

}  // namespace kdgat
