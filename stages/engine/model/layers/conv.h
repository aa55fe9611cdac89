// What every graph convolution is: a layer from rows of nodes to rows of nodes over the edges of a
// batch. Edges from a node to itself are left out by all.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>

#include <cstdint>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/layers/norm.h"
#include "engine/model/layers/step_count.h"

namespace kdgat::model {

class ConvImpl : public torch::nn::Module {
 public:
  /// [N, width]. `batch` has features of edges where the layer reads them.
  virtual at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) = 0;
  /// What that holds; `attr`: the features of edges, where they are not those of the batch.
  virtual Value count(StepCount& step, const Value& x, const Held& attr) const = 0;

  /// dropout(relu(outer(forward()))); `p`, `layer` and `update_running` as of norm_relu_dropout
  /// (norm.h).
  virtual at::Tensor forward_to_norm(const at::Tensor& x_NF, torch::nn::BatchNorm1dImpl& outer,
                                     double p, uint32_t layer, const kernels::BatchTensors& batch,
                                     bool update_running) {
    return norm_relu_dropout(forward(x_NF, batch), outer, p, layer, batch, update_running);
  }
  virtual Value count_to_norm(StepCount& step, const Value& x, const Held& attr,
                              const torch::nn::BatchNorm1dImpl& outer) const {
    return count_norm_relu_dropout(step, count(step, x, attr), outer);
  }

  /// Whether its backward reads its result.
  virtual bool keeps_result() const { return false; }
};

/// Throws Error(kUsage) for attention that no kernel computes.
void require_heads(int64_t heads, int64_t channels);

}  // namespace kdgat::model
