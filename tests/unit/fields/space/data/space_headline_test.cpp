#include <catch2/catch.hpp>

#include "pipeline/data/data.h"

using namespace kdgat;
using nlohmann::json;

TEST_CASE("graphs in space are counted in words", "[data]") {
  json facts = {{"graphs", 1000},
                {"unlabelled", 0},
                {"spatial", {{"are_trees", true}, {"classes", {"a", "b"}}, {"targets", 0}}}};
  CHECK(data_headline(facts) == "1,000 trees, 2 classes");
  facts["spatial"]["targets"] = 1000;
  facts["spatial"]["are_trees"] = false;
  CHECK(data_headline(facts) == "1,000 graphs, 2 classes, 1,000 with a target");
  facts["graphs"] = 1;
  facts["spatial"]["classes"] = json::array();
  facts["spatial"]["targets"] = 0;
  CHECK(data_headline(facts) == "1 graph (without labels)");
}
