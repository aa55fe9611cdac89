// WindowNetwork: a trained network, and what its file says of the windows that it wants. Who
// computes its scores stands behind GraphScorer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/data/can/windows/log_windows.h"
#include "engine/graph/graph_arrays.h"
#include "engine/model/config/trained_model.h"

namespace kdgat::decision {

/// Scores of graphs, by LibTorch or natively. One thread at a time.
class GraphScorer {
 public:
  virtual ~GraphScorer() = default;

  /// Raw scores of the first `count` graphs, valid until the next call.
  virtual std::span<const float> raw_scores(const graph::GraphArrays& graphs, int64_t count) = 0;
  /// The score of a raw score.
  virtual double score_of(double raw) const = 0;
};

struct WindowNetwork {
  std::filesystem::path path;
  std::unique_ptr<GraphScorer> scorer;
  std::vector<int64_t> vocabulary;
  data::WindowShape shape;
  std::optional<double> threshold;
};

/// All but the scorer. Throws Error(kData) for what is no model of windows, or does not say how
/// they were cut.
WindowNetwork window_network(const model::TrainedModel& made);
/// Throws Error(kData) where the model is of another number of ids than its vocabulary has.
void check_ids(const model::TrainedModel& made, const WindowNetwork& network);

/// With the scorer of engine/native/networks.h. Throws Error(kData) as above, and for a model that
/// it cannot compute.
WindowNetwork native_network(const std::filesystem::path& made);

}  // namespace kdgat::decision
