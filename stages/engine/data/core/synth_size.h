// How much made-up data is wanted, and of which seed.
#pragma once

#include <cstdint>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::data {

struct SynthSeed {
  int64_t seed = 1;

  static auto seed_row() {
    return field("seed", &SynthSeed::seed, "Seed; the same bytes for the same seed.");
  }
};

/// `graphs` of about `nodes` nodes each; graph g is of class g modulo `classes`. Each domain says
/// what these are of its own.
struct SynthSize : SynthSeed {
  int64_t graphs = 120;
  int64_t nodes = 100;
  int64_t classes = 3;

  static auto table() {
    using O = SynthSize;
    return std::tuple{
        field("graphs", &O::graphs, "Number of trees, images, documents or users.")
            .range(1, 1 << 20),
        field("nodes", &O::nodes, "Nodes, words or ratings of each, about.").range(4, 1 << 20),
        field("classes", &O::classes, "Classes of them, which differ in shape, topic or taste.")
            .range(1, 256),
        seed_row()};
  }
};

}  // namespace kdgat::data
