#include "pipeline/show/text.h"

#include <catch2/catch.hpp>
#include <limits>

#include "kdgat/text.h"

using namespace kdgat;
using nlohmann::json;

TEST_CASE("a number has the digits that its format asks for", "[text]") {
  CHECK(format_number("%.3f", 0.12345) == "0.123");
  CHECK(format_number("%+.1f %%", -2.25) == "-2.2 %");
  const double largest = std::numeric_limits<double>::max();
  CHECK(std::stod(format_number("%.3f", largest)) == largest);
}

TEST_CASE("thousands are grouped", "[text]") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1412) == "1,412");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(-999) == "-999");
  CHECK(grouped(-1000) == "-1,000");
  CHECK(grouped(std::numeric_limits<int64_t>::min()) == "-9,223,372,036,854,775,808");
}

TEST_CASE("bytes are shown in the unit that fits", "[text]") {
  CHECK(format_bytes(370'000) == "361 KiB");
  CHECK(format_bytes(uint64_t{118} << 20) == "118 MiB");
  CHECK(format_bytes(19542101196) == "18.2 GiB");
  CHECK(mebibytes(int64_t{5} << 30) == "5120.0 MiB");
  CHECK(mebibytes(json(1 << 18)) == "0.2 MiB");
}

TEST_CASE("numbers are shown with the digits that matter", "[text]") {
  CHECK(format_seconds(6.1) == "6.1 s");
  CHECK(format_seconds(200) == "3 min 20 s");
  CHECK(format_seconds(7500) == "2 h 05 min");
  CHECK(format_count(7) == "7");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1412) == "1,412");
  CHECK(format_count(38212) == "38,210");
  CHECK(format_count(1234567) == "1,235,000");
  CHECK(format_count(-2500) == "-2,500");
  CHECK(format_seconds(59.94) == "59.9 s");
  CHECK(format_seconds(59.96) == "1 min 00 s");
  CHECK(format_count(std::numeric_limits<double>::infinity()) == "nan");
}

TEST_CASE("a whole number is shown whole", "[text]") {
  CHECK(short_number(271027) == "271,027");
  CHECK(short_number(12345678) == "12,345,678");
  CHECK(short_number(-2500) == "-2,500");
  CHECK(short_number(0) == "0");
  CHECK(short_number(0.030456) == "0.03046");
  CHECK(short_number(271027.5) == "2.71e+05");
  CHECK(short_number(1e300) == "1e+300");
}

TEST_CASE("values are shown as they are written", "[text]") {
  CHECK(value_text(0.1) == "0.1");
  CHECK(value_text(1e-6) == "1e-06");
  CHECK(value_text("a") == "\"a\"");
  CHECK(value_text({1, 2.5, "x"}) == "[1, 2.5, \"x\"]");
}

TEST_CASE("the nearest name is found unless nothing is near", "[text]") {
  const std::vector<std::string> names = {"batch_size", "lr", "max_epochs", "--data.split"};
  CHECK(nearest("batch_sise", names) == "batch_size");
  CHECK(nearest("bacth_size", names) == "batch_size");
  CHECK(nearest("rl", names) == "lr");
  CHECK(nearest("epochs", names) == "max_epochs");
  CHECK(nearest("--split", names) == "--data.split");
  CHECK(nearest("temperature", names).empty());
  CHECK(nearest("x", {}).empty());
}

TEST_CASE("a text is broken at spaces", "[text]") {
  CHECK(wrapped("one two three", 2, 9) == "one two\n  three");
  CHECK(wrapped("incomprehensible", 2, 9) == "incomprehensible");
}

TEST_CASE("control bytes of a name are shown as question marks", "[text]") {
  CHECK(printable("größe\n\tof \x1b[2J\r\x7f \xc2\x9b!") == "größe\n\tof ?[2J?? ?!");
  CHECK(printable("a name\nerror: of its own\n") == "a name\n  error: of its own\n");
  CHECK(one_line("bad row\n  hint: look\n\there\x1b") == "bad row hint: look here?");
  CHECK(text_width("größe") == 5);
}

TEST_CASE("bytes of a name that are no UTF-8 are escaped", "[text]") {
  CHECK(escaped_name("größe.csv") == "größe.csv");
  CHECK(escaped_name("caf\xE9\n") == "caf\\xE9\\x0A");
  // Cut short, longer than it need be, a surrogate, above the last.
  for (const char* wrong : {"\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80"}) {
    CHECK_FALSE(is_utf8(wrong));
    CHECK(is_utf8(escaped_name(wrong)));
  }
  CHECK(is_utf8("\xF0\x9F\x99\x82 \xE2\x82\xAC"));
}
