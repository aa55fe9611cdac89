// What geometric-tree pre-training minimises (Zhang et al., KDD 2024, arXiv 2408.08799): subtrees
// nest as a partial order of states, and a node's ancestors predict how it grows. Owns the model.
//
// N nodes, H channels.
#pragma once

#include "engine/train/objective.h"
#include "fields/space/model/spatial_tensors.h"
#include "fields/space/model/tree_model.h"
#include "fields/space/objective/tree_loss_options.h"
#include "fields/space/objective/tree_pairs.h"

namespace kdgat::space {

/// Of each pair of parent p and child c: sum_d max(0, h_c,d - h_p,d), [pairs].
torch::Tensor order_positive(const torch::Tensor& h_NH, const NodePairs& pairs);

/// Of each unrelated pair (i, j): max(0, delta_margin - s_ij), [pairs], with s_ij by
/// order_negative: |h_i - h_j| (l2), its square (l2sq), or sum_d max(0, h_j,d - h_i,d)^2 (order;
/// Vendrov et al., arXiv 1511.06361), which forbids that i contains j.
torch::Tensor order_negative(const torch::Tensor& h_NH, const NodePairs& pairs,
                             const TreeLossOptions& options);

/// generation + lambda_order (order_positive + order_negative), each a mean over the whole step: of
/// the growth predictor's loss (fields/space/model/growth.h) over internal nodes, and of the
/// functions above over pairs of parent and child and over unrelated pairs (tree_pairs.h). A mean
/// over nothing is 0. Order is of the encoder's states on the graph's edges. The predictor sees
/// states of a second pass on the edges from node to parent alone: no node has seen a descendant
/// there.
class TreeObjective : public train::Objective {
 public:
  explicit TreeObjective(TreeModel model) : model_(std::move(model)) {}

  /// Unrelated pairs are those of the noise's seed and step, in eval mode too.
  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override;
  /// The loss of each graph alone, with the pairs of seed 0 and step 0.
  torch::Tensor score(const graph::GraphBatch& batch) override;
  torch::nn::Module& module() override { return *model_; }
  std::vector<std::pair<std::string, torch::Tensor>> parts() const override { return parts_; }

  TreeModel& model() { return model_; }

  TreeLossOptions options;

 private:
  /// Values, and for each the node whose graph it belongs to (int64).
  struct Term {
    const char* name;
    double weight;
    torch::Tensor value, node;
    int64_t in_step;  ///< number of values of the whole step
  };
  std::vector<Term> terms(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                          const SpatialTensors& tensors, graph::NoiseKey noise);

  TreeModel model_;
  std::vector<std::pair<std::string, torch::Tensor>> parts_;
};

}  // namespace kdgat::space
