// Sums over the neighbours of each node.
//
// N nodes, C columns. Float or double.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "engine/kernels/batch_tensors.h"

namespace kdgat::kernels {

/// How rows count in a sum over neighbours. Nothing of it has a gradient.
struct SumWeights {
  std::optional<at::Tensor> before_N1;  ///< factor of a row that enters a sum; none: 1
  at::Tensor after_N1;                  ///< factor of a sum
  bool with_own = false;                ///< a node's own row counts as that of a neighbour
};

struct SumKernels {
  /// out_i = sum of x_j over the edges from j to i, those from i to itself left out; zero where
  /// there are none. [N, C]. Differentiable.
  at::Tensor (*neighbours)(const at::Tensor& x_NC, const BatchTensors& batch);
  /// out_i = after_i * sum of before_j x_j over the same edges. [N, C]. Differentiable.
  at::Tensor (*weighted)(const at::Tensor& x_NC, const SumWeights& weights,
                         const BatchTensors& batch);

  static const SumKernels& cpu();
  static const SumKernels& cuda();
  static const SumKernels& plain();
};

/// weighted() by operations on tensors around neighbours(), for devices that have the latter alone.
at::Tensor weighted_around(decltype(SumKernels::neighbours) neighbours, const at::Tensor& x_NC,
                           const SumWeights& weights, const BatchTensors& batch);

/// Neighbours that each node has edges from, [N, 1] of the type of x.
at::Tensor neighbour_counts(const at::Tensor& like, const BatchTensors& batch);

}  // namespace kdgat::kernels
