// The 179 English stop words of NLTK (Bird, Klein, Loper: Natural Language Processing with Python,
// 2009; the list as of version 3.2 to 3.8).
#pragma once

#include <span>
#include <string_view>

namespace kdgat::texts {

std::span<const std::string_view> stop_words();  ///< ascending
bool is_stop_word(std::string_view word);        ///< in lower case

}  // namespace kdgat::texts
