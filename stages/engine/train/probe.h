// Probe: learns what a step needs by running some, as the trainer runs them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/pack.h"
#include "engine/memory/memory_plan.h"
#include "engine/memory/step_form.h"
#include "engine/train/objective.h"

namespace kdgat::train {

/// Size of a batch of the graphs `ids`.
memory::Size size_of(const graph::GraphSet& store, std::span<const int64_t> ids);
/// Sum and largest of the graphs `ids`.
memory::GraphSizes sizes_of(const graph::GraphSet& store, const std::vector<int64_t>& ids);

/// Runs forward and backward on at least five packs of `ids` (two sizes, one rich and one poor in
/// edges per node, one of few large graphs) in training mode under the meter. Where the phases of
/// `counted` miss the peaks, they are corrected by bytes and bytes a node; without phases the peak
/// is fitted as fixed + a nodes + b edges + c graphs. Parameters, gradients, buffers and mode are
/// as before; where gradients accumulate, those of a pack before are there. Takes about a second:
/// where one pack takes so long and the phases hold for it, it stands for all. With too few graphs
/// for five packs, or without memory for them, `counted` is returned as it is. No pack needs more
/// than about `most` bytes; 0 = any.
memory::Footprint measure(Objective& objective, const memory::StepForm& form, uint64_t seed,
                          const graph::GraphSet& store, const std::vector<int64_t>& ids,
                          memory::Footprint counted, int64_t most = 0);

}  // namespace kdgat::train
