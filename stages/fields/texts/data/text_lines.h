// What lines of text look like: words, labels in front of them or behind. Private to this folder.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kdgat::texts {

/// The words among the tokens of lines, counted: numbers and bytes in base 16 are no words.
struct Tokens {
  int64_t words = 0, all = 0;

  void add(std::string_view text);
};

/// The first whole lines of a file, at most `most`; of a single line what there is of it.
std::vector<std::string_view> first_lines(std::string_view head, std::size_t most);

/// Whether `word` may be the name of a class: a time, as logs begin with, is none.
bool is_label(std::string_view word);

/// Whether most of the first lines with a tab are a label and words, as those of a corpus are; a
/// log with tabs has numbers there. With `label_last` the label stands behind the only tab.
bool are_labelled_texts(std::string_view head, bool label_last);

}  // namespace kdgat::texts
