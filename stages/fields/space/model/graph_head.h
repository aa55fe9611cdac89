// GraphModel: an encoder of graphs in space, its states read out graph by graph, and a head on
// that: classes or a number. Or, in the encoder's place, the shape of the trees in numbers made by
// hand (engine/graph/shape.h), standardised.
//
// G graphs, N nodes, H channels, C outputs.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include <string>

#include "engine/model/layers/layer.h"
#include "fields/space/model/sgmp.h"
#include "fields/space/model/spatial_tensors.h"
#include "fields/space/model/tree_form.h"

namespace kdgat::space {

/// Head: Lin(H, H/2)-ReLU-Lin(H/2, C), or Lin(H, C).
struct GraphHeadConfig : HeadForm {
  int64_t classes = 2;  ///< 0: the head gives a number
  bool is_regression() const { return classes == 0; }
};

/// Over the nodes of each graph, [G,H]; 0 without nodes. `kind` as in HeadForm.
at::Tensor readout(const at::Tensor& h_NH, const SpatialTensors& batch, const std::string& kind);

class GraphModelImpl : public torch::nn::Module {
 public:
  GraphModelImpl(const SgmpConfig& config, GraphHeadConfig head_config);
  /// On the shape of trees, without an encoder.
  explicit GraphModelImpl(GraphHeadConfig head_config);

  /// What the head sees, [G,H].
  at::Tensor encode(const graph::GraphBatch& batch);
  /// Logits of the classes, or the number in standard deviations from its mean: [G,C].
  at::Tensor head(const at::Tensor& readout_GH);
  /// Of head(encode()); `frozen`: the encoder takes no gradient.
  Value count(SpatialCount& step, bool frozen) const;
  /// Mean and deviation of shapes become those of these graphs.
  void fit_shape(const graph::GraphBatch& batch);
  const GraphHeadConfig& head_config() const { return head_config_; }

  SgmpEncoder encoder{nullptr};  ///< empty on shapes
  /// Of the number in training, set by the stage before; scalars, saved with the weights. Undefined
  /// with classes.
  at::Tensor target_mean, target_deviation;

 private:
  void make_head(int64_t width);

  GraphHeadConfig head_config_;
  at::Tensor shape_mean_, shape_deviation_;          ///< undefined with an encoder
  torch::nn::Linear lin1_{nullptr}, lin2_{nullptr};  ///< lin1 only of "published"
};
KDGAT_LAYER(GraphModel);

}  // namespace kdgat::space
