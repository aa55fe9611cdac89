#include "pipeline/profile/version_requirement.h"

#include <catch2/catch.hpp>

using namespace kdgat;
using Catch::Contains;

TEST_CASE("a requirement of versions holds or says what is wrong", "[profile]") {
  for (const char* holds :
       {"", "0.1", ">=0.1", ">=0.1, <1", "==0.1.2", "<=0.1.2", ">0.1.1", "<2"}) {
    INFO(holds);
    CHECK(problem_of_version(holds, "0.1.2").empty());
  }
  for (const char* fails : {"0.2", ">=0.1.3", "<0.1", "==0.1", ">0.1.2", ">=0.1, <0.1.2", "1"}) {
    INFO(fails);
    CHECK_THAT(problem_of_version(fails, "0.1.2"),
               Contains(fails) && Contains("asks for kdgat") && Contains("this is 0.1.2"));
  }
  for (const char* senseless :
       {"new", ">=", "=0.1", "~0.1", "0.1.2.3", "0..1", "0.1.", "<>1", "99999999999"}) {
    INFO(senseless);
    CHECK_THAT(problem_of_version(senseless, "0.1.2"), Contains("no requirement"));
  }
}
