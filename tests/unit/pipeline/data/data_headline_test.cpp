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
