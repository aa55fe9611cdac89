// GinConv: graph isomorphism convolution (Xu, Hu, Leskovec, Jegelka: How powerful are graph neural
// networks?, arXiv 1810.00826): sums over neighbours, then a perceptron of two layers. Owns its
// parameters; knows nothing about noise or losses.
#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include <string>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/layers/conv.h"
#include "engine/model/layers/graph_norm.h"

namespace kdgat::model {

/// out_i = lin_2(relu(norm(lin_1((1 + eps) x_i + sum_j x_j)))) over the incoming edges of i,
/// without those from i itself; eps is learned. Without messages the sum is left out, and eps with
/// it: no edge reaches the result. [N, width].
class GinConvImpl : public ConvImpl {
 public:
  /// `norm`: "none", "graph" or "batch".
  GinConvImpl(int64_t inputs, int64_t width, bool has_messages, const std::string& norm);

  /// Of norm "none" or "graph".
  at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) override;
  /// Of norm "batch".
  at::Tensor forward_to_norm(const at::Tensor& x_NF, torch::nn::BatchNorm1dImpl& outer, double p,
                             uint32_t layer, const kernels::BatchTensors& batch,
                             bool update_running) override;
  Value count(StepCount& step, const Value& x, const Held& attr) const override;
  Value count_to_norm(StepCount& step, const Value& x, const Held& attr,
                      const torch::nn::BatchNorm1dImpl& outer) const override;

  at::Tensor eps;  ///< [1], starts at 0; undefined without messages
  torch::nn::Linear lin_1{nullptr}, lin_2{nullptr};
  torch::nn::BatchNorm1d batch_norm{nullptr};  ///< this, graph_norm or both are null
  GraphNorm graph_norm{nullptr};

 private:
  Value count_sums(StepCount& step, const Value& x) const;
  Value count_layer(StepCount& step, const Value& x, const torch::nn::BatchNorm1dImpl& outer) const;
};
KDGAT_LAYER(GinConv);

}  // namespace kdgat::model
