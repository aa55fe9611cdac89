// RelativeNetwork: a graph network that reads windows relative to the profile of a vehicle
// (data.features=relative), as the classifier of a detector. Owns the bytes of its model file.
// Computed natively; threads may share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/data/can/windows/relative_graph.h"
#include "engine/graph/pack.h"
#include "engine/native/networks.h"

namespace kdgat::decision {

class RelativeNetwork {
 public:
  /// `bytes`: of a model file; `name`: of it, in messages. Throws Error(kData) for what is no
  /// classifier of such windows, or cannot be computed natively.
  RelativeNetwork(std::vector<std::byte> bytes, const std::string& name);

  /// Throws Error(kData) as above, and for a file that cannot be read.
  static std::shared_ptr<const RelativeNetwork> read(const std::filesystem::path& file);

  /// Log-odds of attack.
  double score(const data::RelativeGraph& graph) const;

  int64_t parameters() const { return parameters_; }
  int64_t window() const { return window_; }  ///< frames of a window that it was trained on
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  int64_t parameters_ = 0, window_ = 0;
  mutable std::mutex mutex_;  // of these two
  std::unique_ptr<native::GraphNetwork> network_;
  mutable graph::GraphBatch batch_;
};

}  // namespace kdgat::decision
