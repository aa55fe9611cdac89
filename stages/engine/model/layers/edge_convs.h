// Convolutions that read the features of edges: gine, transformer, pna. They own their parameters;
// know nothing about noise or losses. Attention of the second kind: gatv2_conv.h.
#pragma once

#include <torch/nn/modules/linear.h>

#include <string>

#include "engine/model/layers/conv.h"
#include "engine/model/layers/gin_conv.h"
#include "engine/model/layers/layer.h"

namespace kdgat::model {

/// out_i = nn((1 + eps) x_i + sum_j relu(x_j + lin_edge(a_ji))) over the neighbours j of i, a the
/// features of the edge, nn the perceptron of a graph isomorphism network (Hu and others, arXiv
/// 1905.12265). [N, width].
class GineConvImpl : public ConvImpl {
 public:
  /// `norm`: "none", "graph" or "batch", of the perceptron.
  GineConvImpl(int64_t inputs, int64_t width, int64_t edge_features, const std::string& norm);
  at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) override;
  Value count(StepCount& step, const Value& x, const Held& attr) const override;
  at::Tensor forward_to_norm(const at::Tensor& x_NF, torch::nn::BatchNorm1dImpl& outer, double p,
                             uint32_t layer, const kernels::BatchTensors& batch,
                             bool update_running) override;
  Value count_to_norm(StepCount& step, const Value& x, const Held& attr,
                      const torch::nn::BatchNorm1dImpl& outer) const override;

  at::Tensor eps;  ///< [1], starts at 0
  torch::nn::Linear lin_edge{nullptr};
  GinConv nn{nullptr};  ///< without messages of its own

 private:
  at::Tensor sums(const at::Tensor& x_NF, const kernels::BatchTensors& batch);
  Value count_sums(StepCount& step, const Value& x, const Held& attr) const;
};
KDGAT_LAYER(GineConv);

/// out_i = lin_skip(x_i) + sum_j softmax_j(<q_i, k_j + e_ji> / sqrt(channels)) (v_j + e_ji) over
/// the neighbours j of i, with q, k and v = lin_query, lin_key and lin_value of x, e = lin_edge(a),
/// a the features of the edge if there are some (Shi and others, arXiv 2009.03509). The heads stand
/// side by side: [N, heads*channels]. Parameters have PyTorch Geometric's names.
class TransformerConvImpl : public ConvImpl {
 public:
  /// `edge_features`: 0 = none.
  TransformerConvImpl(int64_t inputs, int64_t channels, int64_t heads, int64_t edge_features);
  at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) override;
  Value count(StepCount& step, const Value& x, const Held& attr) const override;

  torch::nn::Linear lin_key{nullptr}, lin_query{nullptr}, lin_value{nullptr}, lin_skip{nullptr};
  torch::nn::Linear lin_edge{nullptr};  ///< without bias; null without features of edges

 private:
  int64_t heads_;
};
KDGAT_LAYER(TransformerConv);

/// out_i = lin(post([x_i, s_i, a_i s_i, s_i / a_i])), s_i being mean, least, largest and deviation
/// over the neighbours j of i of lin_l(x_j) + lin_r(x_i) + lin_edge(a_ji), and a_i = log(d_i + 1)
/// over its mean in training, d_i the number of neighbours (Corso and others, arXiv 2004.05718; of
/// one tower). [N, width].
class PnaConvImpl : public ConvImpl {
 public:
  /// `edge_features`: 0 = none.
  PnaConvImpl(int64_t inputs, int64_t width, int64_t edge_features);
  at::Tensor forward(const at::Tensor& x_NF, const kernels::BatchTensors& batch) override;
  Value count(StepCount& step, const Value& x, const Held& attr) const override;

  torch::nn::Linear lin_l{nullptr}, lin_r{nullptr};  ///< lin_l without bias
  torch::nn::Linear lin_edge{nullptr};  ///< without bias; null without features of edges
  torch::nn::Linear post{nullptr}, lin{nullptr};
  at::Tensor mean_log_degree;  ///< [1], a buffer; starts at 1
};
KDGAT_LAYER(PnaConv);

}  // namespace kdgat::model
