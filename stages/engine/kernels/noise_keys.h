// The keys behind counter-based dropout, for kernels that drop on the way.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/batch_tensors.h"
#include "engine/kernels/cpu/isa/basics.h"

namespace kdgat::kernels {

/// Hashes are 31 bits; elements below the threshold are dropped.
int32_t drop_threshold(double p);
/// What the keys of a layer have in common; that of a graph is mixed of it and of the graph's id.
uint64_t noise_base(const BatchTensors& batch, uint32_t layer);
/// One key for each graph.
std::vector<isa::DropKey> drop_keys(const BatchTensors& batch, uint32_t layer, double p);

}  // namespace kdgat::kernels
