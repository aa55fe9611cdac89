#include "pipeline/profile/seed_words.h"

#include <catch2/catch.hpp>

#include "kdgat/error.h"
#include "support/runs/profile_case.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

TEST_CASE("seeds are ranges and lists, each seed once", "[profile][seeds]") {
  CHECK(read_seeds({"1..5"}) == std::vector<int64_t>{1, 2, 3, 4, 5});
  CHECK(read_seeds({"1", "2", "7", "2"}) == std::vector<int64_t>{1, 2, 7});
  CHECK(read_seeds({"3", "1..3"}) == std::vector<int64_t>{3, 1, 2});
  CHECK(read_seeds({}).empty());
  for (const char* wrong : {"", "a", "-1", "5..1", "1..", "..3", "1...3", "1.5", "0..99999999",
                            "9223372036854775808"}) {
    INFO(wrong);
    CHECK_THROWS_AS(read_seeds({wrong}), Error);
  }
  CHECK(read_seeds({"9223372036854775806..9223372036854775807"}).size() == 2);
}

TEST_CASE("seeds are a key of the profile, beside seed and no record", "[profile][seeds]") {
  ProfileCase c;
  c.request.stage = "classifier";
  CHECK(c.resolve().seeds.empty());
  c.set("seeds", "1..3");
  const Profile profile = c.resolve();
  CHECK(profile.seeds == std::vector<std::string>{"1..3"});
  CHECK(profile.origin.at("seeds") == "command line, argument 2");
  CHECK_FALSE(profile.records.contains("seeds"));
  c.set("seeds", "5..1");
  c.set("device", "gpu");  // all problems at once
  CHECK_THAT(c.problems(), Contains("seeds: \"5..1\" ends before it begins (command line") &&
                               Contains("\"gpu\" is not a device"));
}
