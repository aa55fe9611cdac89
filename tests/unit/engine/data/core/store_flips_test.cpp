// One flipped bit anywhere in a store of windows: store_flips.h.
#include "support/graphs/store_flips.h"

#include <catch2/catch.hpp>

namespace kdgat::graph {

TEST_CASE("a flipped bit of a store of windows is found, and never leads outside of the file",
          "[flips]") {
  SynthOptions logs;
  logs.seconds = 3;
  logs.attacks = {"dos"};
  for (const char* features : {"v2", "v3"}) {
    INFO(features);
    check_flips({logs, use_graphs, features});
  }
}

}  // namespace kdgat::graph
