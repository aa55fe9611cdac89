// Geometry of third-order paths on the CPU. Private to the table in paths.cpp.
#pragma once

#include "engine/kernels/paths.h"

namespace kdgat::kernels::cpu {

PathFeatures path_features(const at::Tensor& pos_N3, const arrays::PathChunk& chunk);

}  // namespace kdgat::kernels::cpu
