#include "engine/file/text_kind.h"

#include <catch2/catch.hpp>
#include <string>

#include "support/programs/mutate.h"

namespace kdgat::file {
namespace {

/// ASCII as UTF-16 has it, without its mark.
std::string utf16(const std::string& text, bool is_big) {
  std::string out;
  for (const char c : text) {
    if (is_big) out += '\0';
    out += c;
    if (!is_big) out += '\0';
  }
  return out;
}

TEST_CASE("text is told from what is none", "[text_kind]") {
  CHECK(not_text("").empty());
  CHECK(not_text("a,b\r\n1,2\n\tx\f").empty());
  CHECK(not_text("caf\xC3\xA9 in UTF-8").empty());
  CHECK(not_text("caf\xE9 in Latin-1").empty());
  CHECK(not_text("BZhang is a name").empty());
  CHECK(not_text("one stray \x01 in a long line of an old corpus").empty());
  CHECK(not_text(std::string("a\0b", 3)) == "binary data");
  CHECK(not_text("\x01\x02\x03") == "binary data");
  CHECK(not_text("\xFF\xFE" + utf16("label", false)) == "text in UTF-16");
  CHECK(not_text("\xFE\xFF" + utf16("label", true)) == "text in UTF-16");
  CHECK(not_text(utf16("without a mark", false)) == "text in UTF-16");
  CHECK(not_text(utf16("without a mark", true)) == "text in UTF-16");
  CHECK(not_text("PK\x03\x04 and more") == "a ZIP archive");
}

TEST_CASE("random bytes are no text", "[text_kind]") {
  test::MutationRandom random(3);
  for (int round = 0; round < 200; ++round) {
    std::string bytes(1 << 10, '\0');
    for (char& c : bytes) c = static_cast<char>(random.below(256));
    CHECK_FALSE(not_text(bytes).empty());
  }
}

}  // namespace
}  // namespace kdgat::file
