// Models of the graph of a corpus whose nodes have no features but who they are: the identity I
// never exists, since S I W = S W.
//
//   text_gcn  H = act(S W1), Z = S (drop(H) W2)            Yao, Mao, Luo, AAAI 2019
//   sgc       Z = S^K W + b                                Wu and others, ICML 2019
//   ssgc      Z = 1/K sum_k ((1 - a) S^k W + a W) + b      Zhu, Koniusz, ICLR 2021
//
// The last two are computed from the right, as products of N x C; S^k is never made. N nodes, C
// classes.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/pimpl.h>

#include <memory>
#include <vector>

#include "engine/graph/noise_key.h"
#include "fields/texts/model/sparse_product.h"
#include "fields/texts/model/text_gcn_config.h"

namespace kdgat::texts {

/// The product of each layer, first to last; layers of several chains may share one.
using ProductChain = std::vector<std::shared_ptr<const SparseProduct>>;

/// For the outputs of the nodes `wanted` after so many layers: each layer computes what the next
/// one reads. With `all_nodes` every layer computes all.
ProductChain make_chain(const SparseMatrix& matrix, const NodeMask& wanted, int64_t layers,
                        bool all_nodes);

class TextGcnImpl : public torch::nn::Module {
 public:
  /// Weights are drawn by `seed`, biases are 0. LibTorch's own generator is not touched.
  TextGcnImpl(TextGcnConfig config, uint64_t seed);

  /// The first product, S W [N, ...], before all that differs between training and use.
  at::Tensor begin(const SparseProduct& first);
  /// All after it: logits [N, C], right in the rows of the chain's last outputs. Drops by `noise`
  /// in training mode. Consumes `sum`, which begin() gave.
  at::Tensor finish(at::Tensor sum, const ProductChain& chain, const graph::NoiseKey& noise);

  const TextGcnConfig& config() const { return config_; }

 private:
  at::Tensor activate(const at::Tensor& x_NC, std::size_t layer, const graph::NoiseKey& noise);
  at::Tensor add_bias(const at::Tensor& x_NC, std::size_t layer) const;
  at::Tensor normed(const at::Tensor& x_NC, std::size_t layer);

  TextGcnConfig config_;
  std::vector<at::Tensor> weights_, biases_, slopes_;
  std::vector<at::Tensor> head_weights_, head_biases_;  // of pred_type mlp
  std::vector<torch::nn::BatchNorm1d> norms_;
};
TORCH_MODULE(TextGcn);

}  // namespace kdgat::texts
