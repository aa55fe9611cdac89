// Growth of trees (Zhang et al., KDD 2024, arXiv 2408.08799, subtree growth learning): from where a
// node stands below its ancestors, how far away and in which directions its children are.
//
// N nodes, I of them internal (with children), K centres, H channels of the encoder. An edge from
// parent to child has a length and, unless it leaves a root, a turn: its angle against the edge
// before it, 0 = straight on. Both enter as K Gaussians exp(-gamma (x - mu_k)^2) with mu_k evenly
// on [0, cutoff] and [0, pi]; lengths beyond the cutoff count as the cutoff.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <span>

#include "engine/model/layers/layer.h"
#include "fields/space/model/spatial_count.h"
#include "fields/space/model/tree_form.h"

namespace kdgat::space {

/// K = num_rbf_centers; gamma is 1 / (2 spacing^2) of each block, or 1.
struct GrowthConfig : GrowthForm {
  int64_t channels = 64;  ///< H
  double cutoff = 10;     ///< in the unit of the positions
};

/// Two distributions over centres for each internal node; rows sum to 1.
struct Histograms {
  at::Tensor length_IK, turn_IK;
};

/// What is known of the internal nodes of a batch. Needs no gradient.
struct Growth {
  at::Tensor node_I;    ///< int64
  Histograms children;  ///< Gaussians of the edges to the children, summed, each block over its sum
  at::Tensor has_turn_I;  ///< 1, or 0 at roots: turn_IK is 0 there
  /// Means of the Gaussians of the edges from the root to the node, K of lengths and K of turns;
  /// then 1, or 0 at roots.
  at::Tensor ancestry_IC;
};

/// `pos_N3` float or double, on any device; `parent`: [N], -1 = a root. A node's row depends on its
/// ancestors and children alone, to the last bit.
Growth growth_of(const at::Tensor& pos_N3, std::span<const int32_t> parent,
                 const GrowthConfig& config);

/// Earth mover's distance of the rows of p and q, [I]: the sum over k < K of |CDF_p - CDF_q|, in
/// units of K-1 centres, so that it lies in [0, 1].
at::Tensor earth_mover(const at::Tensor& p_IK, const at::Tensor& q_IK);

/// Perceptron H+2K+1 -> 64 -> 64 -> 2K with two softmaxes. In 32 bits also under autocast.
class GrowthPredictorImpl : public torch::nn::Module {
 public:
  explicit GrowthPredictorImpl(const GrowthConfig& config);

  /// `u_NH`: states of nodes that have seen no descendant.
  Histograms forward(const at::Tensor& u_NH, const Growth& growth);
  /// Mean of the earth mover's distances of the blocks there are, [I].
  at::Tensor loss(const at::Tensor& u_NH, const Growth& growth);

  /// Of loss(), for the states `u`.
  Value count(SpatialCount& step, const Value& u) const;

  const GrowthConfig& config() const { return config_; }

  torch::nn::Linear first{nullptr}, second{nullptr}, last{nullptr};

 private:
  GrowthConfig config_;
};
KDGAT_LAYER(GrowthPredictor);

}  // namespace kdgat::space
