// GraphNetwork: the score that a trained classifier or autoencoder gives to graphs, computed
// without LibTorch. What is computed stands beside GraphClassifier and GraphAutoencoder in
// stages/model/detector, which the tests hold it against. Knows no logs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/file/safetensors.h"
#include "engine/graph/pack.h"
#include "engine/model/config/model_header.h"

namespace kdgat::native {

/// Larger models are LibTorch's, which computes them in several threads: parameters.
inline constexpr int64_t kMostParameters = 1'000'000;

class GraphNetwork {
 public:
  virtual ~GraphNetwork() = default;

  /// Of each graph of the batch, on a scale that does not saturate: log-odds of attack of a
  /// classifier, mean squared error of an autoencoder. `out` has a place for each graph. Throws
  /// Error(kData) for graphs of other features. One thread at a time.
  virtual void raw_scores(const graph::GraphBatch& batch, std::span<float> out) = 0;
  /// The score of a raw score: a probability of a classifier.
  virtual double score_of(double raw) const { return raw; }
  /// Whether batches must carry edge features.
  virtual bool with_edge_attr() const { return false; }
};

/// "" where load_network() can compute the model; else why not: another kind of model.
std::string why_not_native(const model::ModelHeader& header);

/// Strictly: each tensor of the file has a place in the model, and no number is not finite. Throws
/// Error(kData) naming the file and what is wrong.
std::unique_ptr<GraphNetwork> load_network(const file::SafetensorsFile& file,
                                           const model::ModelHeader& header);

}  // namespace kdgat::native
