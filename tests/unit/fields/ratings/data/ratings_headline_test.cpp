#include <catch2/catch.hpp>

#include "pipeline/data/data.h"

using namespace kdgat;
using nlohmann::json;

TEST_CASE("ratings are counted in words", "[data]") {
  const json facts = {{"ratings", {{"ratings", 100000}, {"items", 1682}, {"users", 943}}}};
  CHECK(data_headline(facts) == "100,000 ratings of 1,682 items by 943 users");
}
