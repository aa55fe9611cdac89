// Exchange: what the processes that train one model together tell each other inside a step. No
// LibTorch; engine/train/rank_group.h is the one that there is.
#pragma once

#include <span>

namespace kdgat::graph {

/// Reaches the processes that hold the other graphs of a step. A batch carries it where statistics
/// of the whole step enter the model (batch normalisation).
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Replaces each value by its sum over all processes. All of them call it equally often, with as
  /// many values, but for those that have no graphs left. May throw: the step is then begun anew.
  virtual void sum(std::span<double> values) = 0;
};

}  // namespace kdgat::graph
