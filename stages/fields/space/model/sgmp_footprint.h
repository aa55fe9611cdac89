// Footprint of a training step of the geometric encoder, counted from shapes: as it runs on the
// CPU, and on a card with the kernels that it has (sgmp_step.h).
#pragma once

#include "engine/kernels/kernels_for.h"
#include "engine/memory/memory_plan.h"
#include "fields/space/model/sgmp_config.h"
#include "fields/space/model/tree_form.h"

namespace kdgat::space {

/// What a chunk of paths is made of, on average over a data set.
struct PathStatistics {
  double nodes = 1;     ///< of a graph
  double edges = 1;     ///< of a graph
  double paths = 1;     ///< of a graph, each node's own included
  double triplets = 1;  ///< of a graph that have paths
  double arcs = 1;      ///< of a graph that have paths
};

/// From the facts of a graph store of graphs in space.
PathStatistics path_statistics(const nlohmann::json& graph_facts);

struct SgmpStep {
  int64_t path_budget = 4096;
  int64_t batch_graphs = 4;    ///< as planned: whether a batch fills a chunk of paths
  bool upward = false;         ///< a second pass on the edges to the parents (pre-training)
  int64_t growth_centres = 0;  ///< of the growth predictor; 0 = a head on the readout
  int64_t outputs = 2;         ///< of that head
  bool has_two_layers = true;  ///< that head, with half the width between
  bool frozen = false;         ///< the encoder takes no gradient
  bool is_short = false;       ///< products in 16 bits
  bool accumulating = false;
  /// Of the device. Beyond the CPU also what its allocator rounds is counted (Footprint::rounding).
  kernels::KernelSet kernels = kernels::KernelSet::kCpu;
};

/// Static mode. `parameters`: numbers and tensors that are trained and kept.
memory::Footprint footprint(const SgmpConfig& config, const SgmpStep& step,
                            const PathStatistics& paths, int64_t parameters,
                            int64_t parameter_tensors);

}  // namespace kdgat::space
