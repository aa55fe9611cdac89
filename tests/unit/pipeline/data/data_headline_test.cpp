#include <catch2/catch.hpp>

#include "pipeline/data/data.h"

using namespace kdgat;
using nlohmann::json;

TEST_CASE("windows are counted in words", "[data]") {
  CHECK(data_headline(json{{"graphs", 1}, {"attack", 0}, {"unlabelled", 1}}) ==
        "1 window (without labels)");
  CHECK(data_headline(json{{"graphs", 1200}, {"attack", 7}, {"unlabelled", 1}}) ==
        "1,200 windows (7 attack)");
}

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

TEST_CASE("texts and ratings are counted in words", "[data]") {
  CHECK(
      data_headline({{"text", {{"documents", 7674}, {"classes", {"a", "b"}}, {"words", 7688}}}}) ==
      "7,674 documents, 2 classes, 7,688 words");
  CHECK(data_headline({{"ratings", {{"ratings", 100000}, {"items", 1682}, {"users", 943}}}}) ==
        "100,000 ratings of 1,682 items by 943 users");
}
