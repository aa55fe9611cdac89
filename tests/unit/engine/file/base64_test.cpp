#include "engine/file/base64.h"

#include <catch2/catch.hpp>
#include <string>

#include "engine/arrays/random.h"

namespace kdgat::file {
namespace {

std::string text_of(const std::string& bytes) {
  return to_base64(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

// RFC 4648, section 10.
TEST_CASE("base64 is that of RFC 4648", "[base64]") {
  CHECK(text_of("").empty());
  CHECK(text_of("f") == "Zg==");
  CHECK(text_of("fo") == "Zm8=");
  CHECK(text_of("foo") == "Zm9v");
  CHECK(text_of("foob") == "Zm9vYg==");
  CHECK(text_of("fooba") == "Zm9vYmE=");
  CHECK(text_of("foobar") == "Zm9vYmFy");
}

TEST_CASE("bytes come back from base64", "[base64]") {
  arrays::Random random(3);
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& one : bytes) one = static_cast<std::byte>(random.below(256));
    const auto back = from_base64(to_base64(bytes));
    REQUIRE(back.has_value());
    CHECK(*back == bytes);
  }
}

TEST_CASE("what is no base64 is refused", "[base64]") {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zg==Zg==", "Zm9-", "Zm 9",
                           "Zh==", "Zm9=", "Zm=v", "=m9v"}) {
    INFO(text);
    CHECK_FALSE(from_base64(text).has_value());
  }
}

}  // namespace
}  // namespace kdgat::file
