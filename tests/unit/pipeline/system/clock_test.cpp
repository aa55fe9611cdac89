#include "pipeline/system/clock.h"

#include <catch2/catch.hpp>

using namespace kdgat;

TEST_CASE("run ids sort by time and differ", "[clock]") {
  const std::string early = make_run_id(1'000'000'000'000), late = make_run_id(1'000'000'000'001);
  CHECK(early.size() == 26);
  CHECK(early < late);
  CHECK(make_run_id(5) != make_run_id(5));
  CHECK(make_run_id(0).substr(0, 10) == "0000000000");
}
