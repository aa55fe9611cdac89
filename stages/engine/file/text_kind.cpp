#include "engine/file/text_kind.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace kdgat::file {

namespace {

constexpr const char* kUtf16 = "text in UTF-16";

struct Magic {
  std::string_view bytes;
  const char* what;
};
constexpr Magic kMagics[] = {{"\xFF\xFE", kUtf16},
                             {"\xFE\xFF", kUtf16},
                             {"PK\x03\x04", "a ZIP archive"},
                             {"%PDF-", "a PDF document"},
                             {"\x89PNG", "a PNG image"},
                             {"\x7F\x45LF", "a program"},
                             {"BZh", "data packed by bzip2"},
                             {"\xFD\x37zXZ", "data packed by xz"},
                             {"\x28\xB5\x2F\xFD", "data packed by zstd"}};

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 32 && (byte < '\t' || byte > '\r')) || byte == 127;
}

}  // namespace

std::string not_text(std::string_view head) {
  const auto magic = std::find_if(std::begin(kMagics), std::end(kMagics),
                                  [&](const Magic& one) { return head.starts_with(one.bytes); });
  const auto control =
      static_cast<std::size_t>(std::count_if(head.begin(), head.end(), is_control));
  // Some of these begin with letters, and so may a text.
  if (magic != std::end(kMagics) && (control > 0 || !head.starts_with("BZh"))) return magic->what;
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < head.size(); ++i) zeros[i % 2] += head[i] == '\0' ? 1 : 0;
  const std::size_t pairs = head.size() / 2, many = std::max(zeros[0], zeros[1]);
  constexpr std::size_t kLeastPairs = 4;
  const bool is_wide = many > pairs / 2 && std::min(zeros[0], zeros[1]) <= pairs / 10;
  if (is_wide && pairs >= kLeastPairs) return kUtf16;
  constexpr std::size_t kOneOf = 100;  // a stray one may stand in an old text
  if (many > 0 || control * kOneOf > std::max(head.size(), 2 * kOneOf)) return "binary data";
  return "";
}

Error refuse_not_text(const std::string& file, const std::string& what) {
  return Error(ExitCode::kData, file + ": " + what + ", not lines of text",
               what == kUtf16 ? "iconv -f UTF-16 -t UTF-8 " + file + " makes it UTF-8"
                              : "logs and tables are text, plain or packed by gzip");
}

}  // namespace kdgat::file
