#include "fields/texts/data/text_columns.h"

#include <algorithm>
#include <cctype>

#include "fields/texts/data/text_import.h"

namespace kdgat::texts {
namespace {

/// What public tables call their columns, in lower case; the first that is there is taken.
constexpr const char* kTexts[] = {"text",     "review", "sentence", "content",
                                  "document", "tweet",  "comment",  "review_text",
                                  "message",  "body",   "headline"};
constexpr const char* kLabels[] = {"label", "sentiment", "class", "category", "topic", "polarity"};
constexpr const char* kSplits[] = {"split", "set", "partition", "subset"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

int64_t place_of(const std::vector<std::string>& header, const std::string& name) {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? -1 : found - header.begin();
}

template <std::size_t N>
int64_t first_of(const std::vector<std::string>& header, const char* const (&names)[N]) {
  std::vector<std::string> lowered;
  lowered.reserve(header.size());
  for (const std::string& name : header) lowered.push_back(lower(name));
  for (const char* name : names) {
    if (const int64_t place = place_of(lowered, name); place >= 0) return place;
  }
  return -1;
}

}  // namespace

TextColumns::TextColumns(const std::vector<std::string>& header, const TextImportOptions& options)
    : text(place_of(header, options.text_column)), label(-1), split(first_of(header, kSplits)) {
  for (const std::string& name : label_columns(options)) {
    if (label < 0) label = place_of(header, name);
  }
  const TextImportOptions plain;
  if (text < 0 && options.text_column == plain.text_column) text = first_of(header, kTexts);
  if (label < 0 && !options.names_label()) label = first_of(header, kLabels);
}

bool is_document_list(std::string_view head) {
  int lines = 0, listed = 0;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && lines > 0) break;  // may be cut anywhere
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    ++lines;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view label = line.substr(second + 1);
    const bool names_part =
        part_in(std::string(line.substr(first + 1, second - first - 1))) != TextPart::kNone;
    listed += names_part && part_named(line.substr(0, first)) == TextPart::kNone &&
              !label.empty() && label.find_first_of(" \t") == std::string_view::npos;
  }
  return lines > 0 && listed == lines;
}

}  // namespace kdgat::texts
