// Kernels that work graph by graph, beside batch norm (norm.cpp). Private to NormKernels::cuda().
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/batch_tensors.h"
#include "engine/kernels/cuda/source/norm_args.h"
#include "engine/kernels/norm.h"

namespace kdgat::kernels::cuda {

/// Of dropping with probability `p` in a place of the model.
Noise noise_of(const BatchTensors& batch, uint32_t layer, double p);
/// The rows of a batch's graphs; `node_ptr` undefined: one for each.
GraphRows rows_of_graphs(const at::Tensor& node_ptr, int64_t graphs, int64_t rows, int64_t columns);

/// Its functions, but for batch_norm.
NormKernels kernels_by_graph();

}  // namespace kdgat::kernels::cuda
