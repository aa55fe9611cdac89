// A whole layer of a graph isomorphism network with batch norms: sums over neighbours, two linear
// layers, two norms, ReLU and dropout. Products, sums and norms of few columns are short, so one
// operation instead of ten saves what lies between them: the calls, and every activation written to
// memory and read again.
//
// N nodes, F inputs, C channels. Float or double.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/batchnorm.h>

#include <cstdint>

#include "engine/kernels/batch_tensors.h"

namespace kdgat::kernels {

/// What a layer learns.
struct GinWeights {
  const at::Tensor& eps;                ///< [1]; undefined: no messages
  const at::Tensor &weight_1, &bias_1;  ///< [C, F], [C]
  torch::nn::BatchNorm1dImpl& inner;    ///< of the perceptron
  const at::Tensor &weight_2, &bias_2;  ///< [C, C], [C]
  torch::nn::BatchNorm1dImpl& outer;    ///< of its results
};

struct GinKernels {
  /// dropout(relu(outer(lin_2(relu(inner(lin_1(s))))))) with s of gin_sums(), [N, C]. Norms are in
  /// the same mode, and as those of NormKernels; `p` and `layer` are theirs. Differentiable.
  at::Tensor (*layer)(const at::Tensor& x_NF, const GinWeights& weights, double p, uint32_t layer,
                      const BatchTensors& batch, bool update_running);

  static const GinKernels& cpu();
  /// By the kernels that the device has of its parts.
  static const GinKernels& plain();
};

/// (1 + eps) x_i. The gradient of eps has the same bits by any number of threads.
at::Tensor own_rows(const at::Tensor& x_NF, const at::Tensor& eps);

/// (1 + eps) x_i + the sum of x_j over the edges from j to i, as SumKernels has it; x without eps.
at::Tensor gin_sums(const at::Tensor& x_NF, const at::Tensor& eps, const BatchTensors& batch);

}  // namespace kdgat::kernels
