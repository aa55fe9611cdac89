#include "fields/texts/data/text_clean.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "engine/file/utf8.h"

namespace kdgat::texts {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// Whether `text` has `word`, given in lower case, at `at`.
bool has_word(std::string_view text, std::size_t at, std::string_view word) {
  if (text.size() - at < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (lower(text[at + i]) != word[i]) return false;
  }
  return true;
}

std::size_t past_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

std::size_t past_word(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_blank(text[at])) ++at;
  return at;
}

/// Behind "word", blanks included, if `text` has it at `at` as a whole; else 0.
std::size_t past_token(std::string_view text, std::size_t at, std::string_view word) {
  const std::size_t end = at + word.size();
  if (at >= text.size() || !has_word(text, at, word)) return 0;
  return end < text.size() && is_blank(text[end]) ? past_blanks(text, end) : 0;
}

/// Behind a number, without blanks; 0 if there is none.
std::size_t past_number(std::string_view text, std::size_t at) {
  const std::size_t from = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return at > from ? at : 0;
}

/// What uuencode writes: codes 33 to 96, no small letter. Blanks are among them too, but part
/// words.
bool is_uuencoded(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c > 32 && c <= 96; });
}

/// So many characters without a small letter or a blank, but with punctuation, are no word.
constexpr std::size_t kEncodedLength = 30;

void blank(std::string& text, std::size_t from, std::size_t to) {
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(from),
            text.begin() + static_cast<std::ptrdiff_t>(std::min(to, text.size())), ' ');
}

bool is_plain(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

/// Behind a uuencoded file that begins at `at` with "begin 644 name": its lines, and "end". 0 if
/// none does; "begin 100 people" is followed by no line.
std::size_t past_encoded_file(std::string_view text, std::size_t at) {
  const std::size_t mode = past_token(text, at, "begin");
  const std::size_t name = mode == 0 ? 0 : past_number(text, mode);
  if (name == 0 || name - mode < 3 || name - mode > 4 || name >= text.size()) return 0;
  std::size_t next = past_blanks(text, past_word(text, past_blanks(text, name)));
  bool has_line = false;
  while (next < text.size()) {
    const std::size_t end = past_word(text, next);
    const std::string_view word = text.substr(next, end - next);
    if (word == "end" && has_line) return end;
    if (!is_uuencoded(word)) break;
    has_line = has_line || !is_plain(word);
    next = past_blanks(text, end);
  }
  return has_line ? next : 0;
}

/// Behind "part 1 of 3"; 0 if that is not at `at`.
std::size_t past_part(std::string_view text, std::size_t at) {
  const std::size_t first = past_token(text, at, "part");
  const std::size_t after = first == 0 ? 0 : past_number(text, first);
  if (after == 0 || after >= text.size() || !is_blank(text[after])) return 0;
  const std::size_t count = past_token(text, past_blanks(text, after), "of");
  return count == 0 ? 0 : past_number(text, count);
}

/// Encoded files, addresses and numbers of parts become blanks.
void blank_noise(std::string& text) {
  for (std::size_t at = past_blanks(text, 0); at < text.size(); at = past_blanks(text, at)) {
    std::size_t end = past_word(text, at);
    const std::string_view word(text.data() + at, end - at);
    if (const std::size_t file = past_encoded_file(text, at); file > 0) {
      end = file;
      blank(text, at, end);
    } else if (word.size() >= kEncodedLength && is_uuencoded(word) && !is_plain(word)) {
      blank(text, at, end);
    } else {
      for (std::size_t i = at; i < end; ++i) {
        const bool begins =
            i == at || !file::is_word_character(static_cast<unsigned char>(text[i - 1]));
        if (!begins) continue;
        if (has_word(text, i, "http://") || has_word(text, i, "https://") ||
            has_word(text, i, "www.")) {
          blank(text, i, end);
          break;
        }
        if (const std::size_t part = past_part(text, i); part > 0) {
          blank(text, i, part);
          end = std::max(end, part);
          break;
        }
      }
    }
    at = end;
  }
}

/// Of each byte what clean_original makes of it: 0 a blank, 1 itself, 2 a word of its own.
constexpr std::array<unsigned char, 256> make_roles() {
  std::array<unsigned char, 256> roles{};
  for (int c = 0; c < 128; ++c) {
    const bool is_alnum =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    roles[static_cast<std::size_t>(c)] = is_alnum || c == '\'' || c == '`' ? 1 : 0;
  }
  for (const char c : {'(', ')', ',', '!', '?'}) roles[static_cast<unsigned char>(c)] = 2;
  return roles;
}
constexpr std::array<unsigned char, 256> kRoles = make_roles();

/// Whether a word of its own begins with the apostrophe or the n at `at`.
bool begins_suffix(std::string_view text, std::size_t at) {
  const auto follows = [&](std::string_view suffix) {
    return text.substr(at).starts_with(suffix);  // in small letters only, as published
  };
  if (text[at] == 'n') return follows("n't");
  return follows("'s") || follows("'ve") || follows("'re") || follows("'d") || follows("'ll");
}

}  // namespace

TextCleaner::TextCleaner(const std::string& cleaning) {
  if (cleaning == "original") {
    clean_ = &TextCleaner::clean_original;
  } else if (cleaning == "seed") {
    clean_ = &TextCleaner::clean_seed;
  } else if (cleaning != "none") {
    throw std::logic_error("no cleaning is called " + cleaning);
  }
}

const std::vector<std::string_view>& TextCleaner::words(std::string_view text) {
  if (clean_ != nullptr) {
    (this->*clean_)(text);
    text = buffer_;
  }
  words_.clear();
  for (std::size_t at = past_blanks(text, 0); at < text.size(); at = past_blanks(text, at)) {
    const std::size_t end = past_word(text, at);
    words_.push_back(text.substr(at, end - at));
    at = end;
  }
  return words_;
}

void TextCleaner::clean_original(std::string_view text) {
  buffer_.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const unsigned char role = kRoles[static_cast<unsigned char>(c)];
    if (role == 0) {
      buffer_ += ' ';
    } else if (role == 2) {
      buffer_ += ' ';
      buffer_ += c;
      buffer_ += ' ';
    } else {
      if ((c == '\'' || c == 'n') && begins_suffix(text, i)) buffer_ += ' ';
      buffer_ += lower(c);
    }
  }
}

void TextCleaner::clean_seed(std::string_view text) {
  blanked_ = text;
  blank_noise(blanked_);
  buffer_.clear();
  for (std::string_view rest = blanked_; !rest.empty();) {
    if (static_cast<unsigned char>(rest.front()) < 0x80) {
      const char c = rest.front();
      buffer_ += is_letter(c) || is_digit(c) || c == '_' ? lower(c) : ' ';
      rest.remove_prefix(1);
      continue;
    }
    const file::CodePoint next = file::first_code_point(rest);
    if (file::is_word_character(next.value)) {
      file::append_code_point(file::lower_case(next.value), buffer_);
    } else {
      buffer_ += ' ';
    }
    rest.remove_prefix(next.bytes);
  }
}

}  // namespace kdgat::texts
