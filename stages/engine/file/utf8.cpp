#include "engine/file/utf8.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace kdgat::file {
namespace {

struct Range {
  char32_t first, last;
};

/// Beyond Latin-1: punctuation, spaces, symbols and what has no meaning.
constexpr Range kNoWords[] = {
    {0x02C2, 0x02C5},   {0x02D2, 0x02DF}, {0x037E, 0x037E}, {0x0387, 0x0387}, {0x055A, 0x055F},
    {0x0589, 0x058F},   {0x05BE, 0x05BE}, {0x05C0, 0x05C0}, {0x0600, 0x060F}, {0x061B, 0x061F},
    {0x066A, 0x066D},   {0x06D4, 0x06D4}, {0x0964, 0x0965}, {0x0E3F, 0x0E3F}, {0x1680, 0x1680},
    {0x2000, 0x206F},   {0x207A, 0x207E}, {0x208A, 0x208E}, {0x20A0, 0x20CF}, {0x2190, 0x23FF},
    {0x2400, 0x245F},   {0x2500, 0x2BFF}, {0x2E00, 0x2E7F}, {0x3000, 0x3004}, {0x3008, 0x3020},
    {0x3030, 0x3030},   {0x30FB, 0x30FB}, {0xE000, 0xF8FF}, {0xFE10, 0xFE6F}, {0xFEFF, 0xFF0F},
    {0xFF1A, 0xFF20},   {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF}, {0x1F000, 0x1FAFF},
    {0xE0000, 0x10FFFF}};

bool is_ascii(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, text.data() + i, 8);
    if ((eight & 0x8080808080808080ULL) != 0) return false;
  }
  for (; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0x80) != 0) return false;
  }
  return true;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t value = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (is_overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, bytes, true};
}

void append_code_point(char32_t value, std::string& to) {
  const auto tail = [&](int shift) { to += static_cast<char>(0x80 | ((value >> shift) & 0x3F)); };
  if (value < 0x80) {
    to += static_cast<char>(value);
  } else if (value < 0x800) {
    to += static_cast<char>(0xC0 | (value >> 6));
    tail(0);
  } else if (value < 0x10000) {
    to += static_cast<char>(0xE0 | (value >> 12));
    tail(6);
    tail(0);
  } else {
    to += static_cast<char>(0xF0 | (value >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

int64_t repair_utf8(std::string_view text, std::string& repaired) {
  if (is_ascii(text)) return 0;
  int64_t faults = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint next = first_code_point(rest);
    if (!next.is_valid && faults++ == 0) repaired.assign(text.data(), text.size() - rest.size());
    if (faults > 0) append_code_point(next.value, repaired);
    rest.remove_prefix(next.bytes);
  }
  return faults;
}

bool is_word_character(char32_t value) {
  if (value < 0x80) {
    return (value >= '0' && value <= '9') || (value >= 'a' && value <= 'z') ||
           (value >= 'A' && value <= 'Z') || value == '_';
  }
  if (value < 0x100) {
    constexpr char32_t kLatin[] = {0xAA, 0xB2, 0xB3, 0xB5, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE};
    const bool is_letter = value >= 0xC0 && value != 0xD7 && value != 0xF7;
    return is_letter || std::find(std::begin(kLatin), std::end(kLatin), value) != std::end(kLatin);
  }
  const Range* after = std::upper_bound(std::begin(kNoWords), std::end(kNoWords), value,
                                        [](char32_t v, const Range& r) { return v < r.first; });
  return after == std::begin(kNoWords) || value > std::prev(after)->last;
}

char32_t lower_case(char32_t value) {
  if (value < 0x80) return value >= 'A' && value <= 'Z' ? value + 32 : value;
  if (value < 0x100) return value >= 0xC0 && value <= 0xDE && value != 0xD7 ? value + 32 : value;
  if (value < 0x180) {
    if (value == 0x130 || value == 0x131 || value == 0x138 || value == 0x149 || value == 0x17F) {
      return value;
    }
    if (value == 0x178) return 0xFF;
    const bool odd_is_upper = (value >= 0x139 && value <= 0x148) || value >= 0x179;
    return (value % 2 == 1) == odd_is_upper ? value + 1 : value;
  }
  if (value >= 0x391 && value <= 0x3A9 && value != 0x3A2) return value + 32;
  if (value >= 0x410 && value <= 0x42F) return value + 32;
  if (value >= 0x400 && value <= 0x40F) return value + 80;
  return value;
}

}  // namespace kdgat::file
