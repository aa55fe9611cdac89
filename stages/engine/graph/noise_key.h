// What the noise of a step depends on, beside the graph, the element and the layer that ask for it.
#pragma once

#include <cstdint>

namespace kdgat::graph {

struct NoiseKey {
  uint64_t seed = 0;
  int64_t step = 0;  ///< counted from 0 over all epochs
};

}  // namespace kdgat::graph
