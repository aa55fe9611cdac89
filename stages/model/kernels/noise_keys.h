// The keys behind counter-based dropout, for kernels that drop on the way.
#pragma once

#include <cstdint>
#include <vector>

#include "model/kernels/basics.h"
#include "model/kernels/batch_tensors.h"

namespace kdgat::model {

/// Hashes are 31 bits; elements below the threshold are dropped.
int32_t drop_threshold(double p);
/// One key for each graph.
std::vector<kernels::DropKey> drop_keys(const BatchTensors& batch, uint32_t layer, double p);

}  // namespace kdgat::model
