// A network of `kdgat score`: the scorer of a model file, and what the file says of the graphs it
// wants.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "data/can/log_windows.h"
#include "graph/pack.h"
#include "train/objective.h"

namespace kdgat::score {

struct Network {
  std::filesystem::path path;
  std::unique_ptr<train::Scorer> scorer;
  std::vector<int64_t> vocabulary;
  graph::WindowShape shape;
  std::optional<double> threshold;
};

/// Throws Error(kData) for what is no model of windows, or does not say how they were cut.
Network load_network(const std::filesystem::path& given, torch::Device device);

/// Raw scores of the graphs of a read. Owns what a batch is gathered in.
class NetworkScores {
 public:
  /// Must outlive it.
  explicit NetworkScores(const Network& network) : network_(network) {}

  std::vector<float> of(const graph::LogWindows& windows, int64_t graphs);

 private:
  const Network& network_;
  std::vector<int64_t> ids_;
  graph::GraphBatch batch_;
};

}  // namespace kdgat::score
