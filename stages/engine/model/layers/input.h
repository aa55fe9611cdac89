// Input layer of the models: identifiers as vectors next to the other features.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>

#include <span>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/config/input_form.h"
#include "engine/model/layers/layer.h"
#include "engine/model/layers/step_count.h"

namespace kdgat::model {

/// Embedding of column 0 next to the other columns, [N, embedding + node_features - 1]; and the
/// edge features. With form.standardise both as z-scores, clipped to 10 deviations so that a
/// feature which hardly varies in benign traffic cannot drown the rest. Nodes without identifiers
/// have no embedding: all columns are features, [N, node_features].
class InputImpl : public torch::nn::Module {
 public:
  InputImpl(int64_t num_ids, int64_t node_features, int64_t embedding, const InputForm& form = {},
            int64_t edge_features = 0, bool has_ids = true);

  /// Throws Error(kData) if the batch has other features or ids outside the vocabulary.
  at::Tensor forward(const kernels::BatchTensors& batch);
  /// Edge features [E, D]; Error(kData) if the batch has none or others.
  at::Tensor edges(const kernels::BatchTensors& batch);
  Value count(StepCount& step) const;
  /// What edges() makes; null if it returns those of the batch.
  Held count_edges(StepCount& step) const;
  int64_t width() const;

  /// Takes from the data what the form needs: for standardise the mean and deviation of the
  /// features of the graphs `benign` (none: as they are), for id_embedding hashed the raw
  /// identifiers behind the vocabulary, which must be of num_ids.
  void fit(const graph::GraphStore& store, std::span<const int64_t> benign);

  torch::nn::Embedding embedding{nullptr};  ///< null without identifiers
  at::Tensor bucket;  ///< hashed: [num_ids, 2] int64 rows of the table for each index
  at::Tensor node_mean, node_scale, edge_mean, edge_scale;  ///< standardise: [F-1], without
                                                            ///< identifiers [F]; and [D]

 private:
  at::Tensor identify(const kernels::BatchTensors& batch);
  void set_vocabulary(std::span<const int64_t> raw_ids);

  InputForm form_;
  int64_t num_ids_, node_features_, edge_features_;
};
KDGAT_LAYER(Input);

}  // namespace kdgat::model
