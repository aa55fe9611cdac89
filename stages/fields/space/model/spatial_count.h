// A step of the geometric encoder on a card, on sizes (engine/memory/tape.h): what its layers count
// themselves into. What lies on the host, chunks of paths among it, does not count.
#pragma once

#include <torch/nn/modules/linear.h>

#include <utility>
#include <vector>

#include "engine/kernels/kernels_for.h"
#include "engine/memory/tape.h"
#include "engine/model/layers/step_count.h"

namespace kdgat::space {

using memory::Cost;
using memory::Held;
using memory::Keeps;
using memory::Tape;
using memory::Value;
using model::kNodes;

/// Rows of a chunk of paths.
struct ChunkRows {
  Cost paths, triplets, arcs;
};

/// What of a step is not said by the model.
struct SgmpStep {
  int64_t path_budget = 4096;
  int64_t batch_graphs = 4;  ///< as planned: whether a batch fills a chunk of paths
  bool frozen = false;       ///< the encoder takes no gradient
  bool is_short = false;     ///< products in 16 bits
  bool accumulating = false;
  /// Of the device. Beyond the CPU also what its allocator rounds is counted (Footprint::rounding).
  kernels::KernelSet kernels = kernels::KernelSet::kCpu;
};

class SpatialCount {
 public:
  SpatialCount(const SgmpStep& of_step, const ChunkRows& rows_of_chunk)
      : step(of_step), chunk(rows_of_chunk), tape(of_step.accumulating) {
    tape.follow_blocks();
  }

  const SgmpStep step;
  const ChunkRows chunk;
  Tape tape;
  /// Backward comes to the operations that follow when it has been through the encoder before.
  bool again = false;

  bool is_plain() const { return step.kernels == kernels::KernelSet::kPlain; }
  Held rows(const Cost& of, double columns) { return tape.hold(model::floats(of, columns)); }
  Held matrix(double of, double columns) { return rows(model::kOnce, of * columns); }

  /// What makes the gradients of parameters of so many elements each; where another pass of
  /// backward has made some before, these are added to them.
  auto gradients(std::vector<double> elements) {
    return [this, is_again = again, elements = std::move(elements)] {
      if (!is_again) return tape.parameters(elements);
      for (const double count : elements) rows(model::kOnce, count);
    };
  }

  Value linear(const Value& x, const torch::nn::Linear& layer) {
    Value y = tape.value(x.rows, static_cast<double>(layer->options.out_features()));
    tape.then(y, [this, x, trained = gradients(model::elements_of({layer->weight, layer->bias}))](
                     const Held&) {
      tape.give(x);
      trained();
    });
    return y;
  }
};

}  // namespace kdgat::space
