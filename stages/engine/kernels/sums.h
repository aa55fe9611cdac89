// Sums over the neighbours of each node.
//
// N nodes, C columns. Float or double.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/batch_tensors.h"

namespace kdgat::kernels {

struct SumKernels {
  /// out_i = sum of x_j over the edges from j to i, those from i to itself left out; zero where
  /// there are none. [N, C]. Differentiable.
  at::Tensor (*neighbours)(const at::Tensor& x_NC, const BatchTensors& batch);

  static const SumKernels& cpu();
  static const SumKernels& cuda();
  static const SumKernels& plain();
};

}  // namespace kdgat::kernels
