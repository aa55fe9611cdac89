// SgmpEncoder: message passing over third-order paths of a graph in space (Zhang and Zhao, SGMP;
// Zhang et al., KDD 2024, arXiv 2408.08799). Paths are enumerated by budget and forgotten again,
// forward and backward: memory grows with nodes and with the budget, not with the number of paths.
//
// N nodes, F features, H hidden channels. A block computes
//   h_i += aggregate over paths (i,j,k,p) of W3 relu(W2 relu(W1 [h_i, h_j, h_k, h_p, g1, g2, g3]))
// with g1 of |ij|, g2 of |jk| and the angle at j, g3 of |jp|, the second angle and the torsion: all
// invariant under rotation and translation. See path_features.h.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "engine/arrays/paths.h"
#include "engine/model/layers/layer.h"
#include "fields/space/model/path_messages.h"
#include "fields/space/model/sgmp_config.h"
#include "fields/space/model/spatial_count.h"

namespace kdgat::space {

/// Two linear layers with a ReLU between: in -> hidden -> out.
class TwoLayersImpl : public torch::nn::Module {
 public:
  TwoLayersImpl(int64_t in, int64_t hidden, int64_t out);
  at::Tensor forward(const at::Tensor& x);
  Value count(SpatialCount& step, const Value& x) const;

  torch::nn::Linear first{nullptr}, second{nullptr};
};
KDGAT_LAYER(TwoLayers);

/// What the encoder runs on. `x_NF` and `pos_N3` on the module's device; the edges in this
/// process's memory. Edges may be other than those of the graph (upward only, say): node numbers
/// are rows of x.
struct SpatialInput {
  at::Tensor x_NF;
  at::Tensor pos_N3;
  arrays::OutEdges edges;  ///< must stay until backward has run
};

/// One block; see the file's head. Geometry needs no gradient.
class SgmpBlockImpl : public torch::nn::Module {
 public:
  explicit SgmpBlockImpl(const SgmpConfig& config);
  /// [N,H] -> [N,H]. At most `path_budget` paths are alive at once.
  at::Tensor forward(const at::Tensor& h_NH, const at::Tensor& pos_N3, arrays::OutEdges edges,
                     int64_t path_budget);
  Value count(SpatialCount& step, const Value& h, const Held& pos) const;

  TwoLayers edge{nullptr}, triplet{nullptr}, torsion{nullptr};
  torch::nn::Linear combine0{nullptr}, combine1{nullptr}, combine2{nullptr};  ///< 7H, 4H, 2H, H
  torch::nn::LayerNorm norm{nullptr};  ///< empty without normalisation

 private:
  PathMessages messages_of(const at::Tensor& h_NH);

  SgmpConfig config_;
};
KDGAT_LAYER(SgmpBlock);

class SgmpEncoderImpl : public torch::nn::Module {
 public:
  explicit SgmpEncoderImpl(const SgmpConfig& config);

  /// Node states [N,H] after the last block.
  at::Tensor forward(const SpatialInput& input);
  Value count(SpatialCount& step) const;
  const SgmpConfig& config() const { return config_; }

  int64_t path_budget = 4096;  ///< paths alive at once; changes no result beyond rounding

  TwoLayers embedding{nullptr};
  torch::nn::ModuleList blocks;

 private:
  SgmpConfig config_;
};
KDGAT_LAYER(SgmpEncoder);

}  // namespace kdgat::space
