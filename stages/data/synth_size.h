// How much made-up data is wanted. No LibTorch.
#pragma once

#include <cstdint>

namespace kdgat::graph {

/// Of graphs in space: `graphs` of about `nodes` nodes; graph g is of class g modulo `classes`. Of
/// texts: documents, words and topics; of ratings: users, ratings of each and tastes.
struct SynthSize {
  int64_t graphs = 120;
  int64_t nodes = 100;
  int64_t classes = 3;
  int64_t seed = 1;
};

}  // namespace kdgat::graph
