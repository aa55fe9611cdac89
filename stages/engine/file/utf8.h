// UTF-8 as files have it: read, checked and repaired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kdgat::file {

inline constexpr char32_t kReplacement = 0xFFFD;

struct CodePoint {
  char32_t value = kReplacement;
  std::size_t bytes = 1;
  bool is_valid = false;
};

/// The character at the front of `text`, which is not empty. Bytes that are none are one
/// replacement character each. Overlong forms, surrogates and what is above U+10FFFF are none.
CodePoint first_code_point(std::string_view text);

void append_code_point(char32_t value, std::string& to);

/// Makes `repaired` what `text` says with kReplacement for each byte that is no part of a
/// character, and gives the number of such bytes. With 0 `repaired` is left as it was.
int64_t repair_utf8(std::string_view text, std::string& repaired);

/// Whether it is a letter, a digit or a mark that belongs to one. Exact in Latin-1; beyond it
/// blocks of punctuation and symbols are told apart from all others.
bool is_word_character(char32_t value);

/// Simple lower case of ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic; others as they are.
char32_t lower_case(char32_t value);

}  // namespace kdgat::file
