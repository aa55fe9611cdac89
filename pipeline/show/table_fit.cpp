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

/// Where a word that is too wide is broken: behind the last joining sign that has room.
std::size_t break_of(const std::string& word, std::size_t width) {
  const std::size_t most = bytes_of(word, width);
  const std::size_t sign = most == 0 ? std::string::npos : word.find_last_of("_-/.,:=", most - 1);
  return sign == std::string::npos ? most : sign + 1;
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
      const std::size_t end = break_of(line, width);
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

std::size_t key_columns(const std::vector<bool>& has_figures) {
  const auto first = std::find(has_figures.begin(), has_figures.end(), true);
  if (first == has_figures.end()) return 1;
  return std::max<std::size_t>(1, static_cast<std::size_t>(first - has_figures.begin()));
}

std::vector<std::size_t> narrowed_keys(std::vector<std::size_t> widths, std::size_t keys,
                                       std::size_t most) {
  if (total(widths) <= most || keys >= widths.size()) return widths;
  const auto first_other = widths.begin() + static_cast<std::ptrdiff_t>(keys);
  const std::size_t other = *std::max_element(first_other, widths.end());
  std::vector<std::size_t> own(widths.begin(), first_other);
  const std::size_t room = most > kGap + other ? most - kGap - other : 0;
  own = narrowed(std::move(own), std::vector<bool>(keys, true), room);
  if (total(own) <= room) std::copy(own.begin(), own.end(), widths.begin());
  return widths;
}

std::vector<std::vector<std::size_t>> blocks_of(const std::vector<std::size_t>& widths,
                                                std::size_t keys, std::size_t most) {
  if (widths.empty()) return {};
  const auto room_of = [&](const std::vector<std::size_t>& block) {
    std::vector<std::size_t> own;
    own.reserve(block.size());
    for (const std::size_t i : block) own.push_back(widths[i]);
    return total(own);
  };
  std::vector<std::vector<std::size_t>> blocks = {{0}};
  for (std::size_t i = 1; i < widths.size(); ++i) {
    std::vector<std::size_t> longer = blocks.back();
    longer.push_back(i);
    if (room_of(longer) <= most) {
      blocks.back() = std::move(longer);
      continue;
    }
    std::vector<std::size_t> next;
    for (const std::size_t repeated : {std::min(keys, i), std::size_t{1}, std::size_t{0}}) {
      next.resize(repeated);
      std::iota(next.begin(), next.end(), std::size_t{0});
      next.push_back(i);
      if (room_of(next) <= most) break;
    }
    blocks.push_back(std::move(next));
  }
  return blocks;
}

}  // namespace kdgat
