// Passing graphs to a model batch by batch, without training it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/graph/pack.h"

namespace kdgat::train {

/// Graphs of a batch that is only scored; such batches stay in the caches, and scoring does not get
/// faster beyond.
inline constexpr int64_t kScoreGraphs = 512;

/// Calls visit(batch, ids of the batch) for every batch of at most `graphs` of `ids`, in order;
/// visit may change the batch. A batch for which there is no memory is gathered and visited again
/// in halves: visit must do nothing lasting before its last allocation.
void for_batches(const graph::GraphSet& store, const std::vector<int64_t>& ids, bool with_edge_attr,
                 const std::function<void(graph::GraphBatch&, std::span<const int64_t>)>& visit,
                 int64_t graphs = kScoreGraphs);

/// Scores of the graphs `ids`, in their order; `score` may change its batch.
std::vector<float> score_all(const graph::GraphSet& store, const std::vector<int64_t>& ids,
                             bool with_edge_attr,
                             const std::function<torch::Tensor(graph::GraphBatch&)>& score,
                             const std::function<void(int64_t done)>& progress = {},
                             int64_t graphs = kScoreGraphs);

}  // namespace kdgat::train
