#include "fields/texts/data/text_lines.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "engine/file/number_text.h"

namespace kdgat::texts {
namespace {

constexpr std::size_t kLongestLabel = 64;

/// Whether a token has letters beyond those of numbers in base 16, or is of letters alone and no
/// byte of a payload that happens to be so.
bool is_word(std::string_view token) {
  bool has_other_letter = false, is_of_letters = true;
  for (const char c : token) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_letter = byte > 127 || std::isalpha(byte) != 0;
    has_other_letter = has_other_letter || (is_letter && std::isxdigit(byte) == 0);
    is_of_letters = is_of_letters && is_letter;
  }
  return has_other_letter || (is_of_letters && !token.empty() && token.size() != 2);
}

/// Whether labels are the numbers of rows, as an index is: each one more than the one before.
bool count_rows(const std::vector<std::string_view>& labels) {
  constexpr std::size_t kLeast = 4;
  std::size_t rises = 0;
  for (std::size_t i = 1; i < labels.size(); ++i) {
    const auto before = file::number_in(labels[i - 1]), number = file::number_in(labels[i]);
    rises += before && number && *number == *before + 1;
  }
  return labels.size() >= kLeast && rises + 2 >= labels.size();  // a header may stand before
}

}  // namespace

void Tokens::add(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return;
    std::string_view token = text.substr(begin, text.find_first_of(kBlanks, begin) - begin);
    text.remove_prefix(begin + token.size());
    const auto is_mark = [](char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; };
    while (!token.empty() && is_mark(token.front())) token.remove_prefix(1);
    while (!token.empty() && is_mark(token.back())) token.remove_suffix(1);
    words += is_word(token) ? 1 : 0;
    ++all;
  }
}

bool is_label(std::string_view word) {
  const bool is_time = word.find('.') != std::string_view::npos &&
                       file::number_in(word.substr(word.starts_with('(') ? 1 : 0,
                                                   word.size() - (word.starts_with('(') ? 2 : 0)));
  return !word.empty() && word.size() <= kLongestLabel &&
         word.find(' ') == std::string_view::npos && !is_time;
}

std::vector<std::string_view> first_lines(std::string_view head, std::size_t most) {
  std::vector<std::string_view> out;
  while (!head.empty() && out.size() < most) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && !out.empty()) break;  // may be cut anywhere
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) out.push_back(line);
  }
  return out;
}

bool are_labelled_texts(std::string_view head, bool label_last) {
  constexpr std::size_t kLines = 8;
  std::size_t lines = 0;
  std::vector<std::string_view> labels;
  Tokens tokens;
  for (const std::string_view line : first_lines(head, 4 * kLines)) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;  // malformed, and counted when it is read
    if (++lines > kLines) break;
    const std::string_view before = line.substr(0, tab), behind = line.substr(tab + 1);
    const std::string_view label = label_last ? behind : before;
    const std::string_view text = label_last ? before : behind;
    if (!is_label(label) || (label_last && text.find(' ') == std::string_view::npos)) continue;
    labels.push_back(label);
    tokens.add(text);
  }
  return 2 * labels.size() > std::min(lines, kLines) && 3 * tokens.words >= tokens.all &&
         tokens.words > 0 && !count_rows(labels);
}

}  // namespace kdgat::texts
