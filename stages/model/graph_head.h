// GraphModel: an encoder of graphs in space, its states read out graph by graph, and a head on
// that: classes or a number.
//
// G graphs, N nodes, H channels, C outputs.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <string>

#include "model/sgmp.h"
#include "model/spatial_tensors.h"
#include "model/tree_form.h"

namespace kdgat::model {

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

  /// What the head sees, [G,H].
  at::Tensor encode(const graph::GraphBatch& batch);
  /// Logits of the classes, or the number in standard deviations from its mean: [G,C].
  at::Tensor head(const at::Tensor& readout_GH);
  const GraphHeadConfig& head_config() const { return head_config_; }

  SgmpEncoder encoder{nullptr};
  /// Of the number in training, set by the stage before; scalars, saved with the weights. Undefined
  /// with classes.
  at::Tensor target_mean, target_deviation;

 private:
  GraphHeadConfig head_config_;
  torch::nn::Linear lin1_{nullptr}, lin2_{nullptr};  ///< lin1 only of "published"
};
TORCH_MODULE(GraphModel);

}  // namespace kdgat::model
