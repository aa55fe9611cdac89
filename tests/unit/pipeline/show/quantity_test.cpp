#include "pipeline/show/quantity.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/error.h"
#include "support/can/log_text.h"

using namespace kdgat;
using kdgat::test::error_of;

TEST_CASE("sizes are read as people write them", "[quantity]") {
  for (const auto& [text, bytes] :
       std::vector<std::pair<std::string, uint64_t>>{{"0", 0},
                                                     {"1000", 1000},
                                                     {"17 B", 17},
                                                     {"1K", 1024},
                                                     {"512MiB", uint64_t{512} << 20},
                                                     {"512 mib", uint64_t{512} << 20},
                                                     {"1.5G", uint64_t{3} << 29},
                                                     {"16GB", 16'000'000'000},
                                                     {"2tib", uint64_t{2} << 40}}) {
    INFO(text);
    CHECK(parse_bytes(text) == bytes);
    CHECK(parse_bytes(exact_bytes(bytes)) == bytes);
  }
  CHECK(exact_bytes(uint64_t{4} << 30) == "4GiB");
  CHECK(exact_bytes(uint64_t{3} << 29) == "1536MiB");
  CHECK(exact_bytes(0) == "0");
  for (const char* text :
       {"", "GiB", "-4GiB", "4 4", "1.2.3", "4XB", "4GiBs", "4e3", "99999999TiB"}) {
    INFO(text);
    CHECK(error_of([&] { parse_bytes(text); }, ExitCode::kUsage)
              .find("a size is a number and B, KiB") != std::string::npos);
  }
}

TEST_CASE("times are read with their units", "[quantity]") {
  for (const auto& [text, seconds] : std::vector<std::pair<std::string, double>>{{"90s", 90},
                                                                                 {"5min", 300},
                                                                                 {"5m", 300},
                                                                                 {"5 min", 300},
                                                                                 {"1.5h", 5400},
                                                                                 {"1hour", 3600},
                                                                                 {"2d", 172800},
                                                                                 {"1day", 86400}}) {
    INFO(text);
    CHECK(parse_seconds(text) == seconds);
    CHECK(parse_seconds(text, 60) == seconds);
  }
  const std::string huge(400, '9');
  for (const std::string& text :
       std::vector<std::string>{"", "0s", "s", ".", "-5s", "+5s", "1.2.3s", "5 minutes", "5min ",
                                "30 ", "1e2s", huge + "d"}) {
    INFO(text);
    CHECK_FALSE(parse_seconds(text));
    CHECK_FALSE(parse_seconds(text, 1));
  }
  CHECK_FALSE(parse_seconds("300"));
  CHECK(parse_seconds("300", 1) == 300.0);
  CHECK(parse_seconds("1.5", 60) == 90.0);
  // As few roundings as there can be: 1.1 * 3600 / 60 is more than 66.
  CHECK(parse_minutes_of("1.1h") == 66.0);
  CHECK(parse_minutes_of("0.55h") == 33.0);
  CHECK(parse_minutes_of("17.1h") == 1026.0);
  CHECK(parse_minutes_of("45s") == 0.75);
  CHECK(parse_minutes_of("90") == 90.0);
}

TEST_CASE("rates are a count in a time", "[quantity]") {
  const auto rate = parse_rate("10/min");
  REQUIRE(rate);
  CHECK(rate->count == 10);
  CHECK(rate->seconds == 60);
  CHECK_FALSE(parse_rate("7"));
  CHECK(parse_per_hour("10/h") == 10.0);
  CHECK(parse_per_hour("2/min") == 120.0);
  CHECK(parse_per_hour("1.1/min") == 66.0);
  CHECK(parse_per_hour("48/day") == 2.0);
  CHECK(parse_per_hour("7") == 7.0);
  for (const char* text : {"", "0/h", "-1/h", "+1/h", "1e3/h", "x/h", "10/year", "10/"}) {
    INFO(text);
    CHECK_FALSE(parse_rate(text));
    CHECK_FALSE(parse_per_hour(text));
  }
}
