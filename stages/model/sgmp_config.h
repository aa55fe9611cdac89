// Configuration of the geometric encoder (SGMP) and of what stands on it. No LibTorch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace kdgat::model {

struct SgmpConfig {
  int64_t node_features = 0;
  int64_t hidden = 64;
  int64_t interactions = 3;           ///< blocks
  double cutoff = 10;                 ///< last Gaussian of a distance; nothing is pruned
  std::string aggregation = "mean";   ///< of messages at the start of their paths, or "sum"
  std::string norm = "layer";         ///< of a block's input, or "none"
  double scale = 1;                   ///< positions are divided by it: the median edge length

  bool operator==(const SgmpConfig&) const = default;
};

/// from_json throws Error(kData) naming each missing, unknown, malformed or impossible entry.
void to_json(nlohmann::json& out, const SgmpConfig& config);
void from_json(const nlohmann::json& in, SgmpConfig& config);

}  // namespace kdgat::model
