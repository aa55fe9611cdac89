#include <catch2/catch.hpp>

#include "pipeline/data/data.h"

using namespace kdgat;
using nlohmann::json;

TEST_CASE("texts are counted in words", "[data]") {
  const json facts = {{"text", {{"documents", 7674}, {"classes", {"a", "b"}}, {"words", 7688}}}};
  CHECK(data_headline(facts) == "7,674 documents, 2 classes, 7,688 words");
}
