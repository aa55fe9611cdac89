// One flipped bit anywhere in a store of graphs in space: store_flips.h.
#include <catch2/catch.hpp>

#include "support/graphs/store_flips.h"

namespace kdgat::space {

TEST_CASE(
    "a flipped bit of a store of graphs in space is found, and never leads outside of the file",
    "[flips]") {
  graph::check_flips({test::synth_of("tree", 6, 20), graph::use_graphs});
}

}  // namespace kdgat::space
