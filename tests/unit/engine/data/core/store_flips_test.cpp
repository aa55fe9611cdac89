// One flipped bit anywhere in a store of windows: store_flips.h.
#include "support/graphs/store_flips.h"

#include <catch2/catch.hpp>

namespace kdgat::data {

TEST_CASE("a flipped bit of a store of windows is found, and never leads outside of the file",
          "[flips]") {
  graph::SynthOptions logs;
  logs.seconds = 3;
  logs.attacks = {"dos"};
  for (const char* features : {"v2", "v3"}) {
    INFO(features);
    graph::check_flips({logs, graph::use_graphs, features});
  }
}

}  // namespace kdgat::data
